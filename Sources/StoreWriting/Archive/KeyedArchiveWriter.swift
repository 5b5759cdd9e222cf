package import StoreFormat

/// Lays out the object table of a keyed archive (`NSKeyedArchiver`).
///
/// An object that takes part in a cycle is reserved first and defined later; strings and classes are stored once.
package struct KeyedArchiveWriter {
    /// The reference that stands for `nil`.
    package static let null = PropertyListValue.uid(0)

    private var objects: [PropertyListValue] = [.string("$null")]
    private var strings: [String: PropertyListValue] = [:]
    private var classes: [String: PropertyListValue] = [:]

    package init() {}

    /// Returns a reference to an object that ``define(_:as:_:)`` will fill in.
    package mutating func reserve() -> PropertyListValue {
        append(.string("$null"))
    }

    /// Fills in a reserved object; `ancestry` is its class name and those of its superclasses, nearest first.
    package mutating func define(
        _ reference: PropertyListValue,
        as ancestry: [String],
        _ fields: [String: PropertyListValue]
    ) {
        guard case .uid(let index) = reference, objects.indices.contains(index) else { return }
        var fields = fields
        fields["$class"] = classReference(ancestry)
        objects[index] = .dictionary(fields)
    }

    /// Adds an object whose fields are known.
    package mutating func object(_ ancestry: [String], _ fields: [String: PropertyListValue]) -> PropertyListValue {
        let reference = reserve()
        define(reference, as: ancestry, fields)
        return reference
    }

    /// Adds a string, or returns the reference to an equal one.
    package mutating func string(_ text: String) -> PropertyListValue {
        if let known = strings[text] { return known }
        let reference = append(.string(text))
        strings[text] = reference
        return reference
    }

    /// Adds a number, a Boolean or data, which an archive contains unchanged; nil becomes the null reference.
    package mutating func value(_ value: PropertyListValue?) -> PropertyListValue {
        value.map { append($0) } ?? Self.null
    }

    package mutating func array(_ elements: [PropertyListValue], mutable: Bool = false) -> PropertyListValue {
        object(
            mutable ? ["NSMutableArray", "NSArray", "NSObject"] : ["NSArray", "NSObject"],
            ["NS.objects": .array(elements)]
        )
    }

    package mutating func set(_ elements: [PropertyListValue]) -> PropertyListValue {
        object(["NSSet", "NSObject"], ["NS.objects": .array(elements)])
    }

    package mutating func dictionary(_ entries: [(key: PropertyListValue, value: PropertyListValue)])
        -> PropertyListValue
    {
        object(
            ["NSMutableDictionary", "NSDictionary", "NSObject"],
            ["NS.keys": .array(entries.map(\.key)), "NS.objects": .array(entries.map(\.value))]
        )
    }

    /// Returns the finished archive with `root` at its top.
    package func archive(root: PropertyListValue) -> PropertyListValue {
        .dictionary([
            "$archiver": .string("NSKeyedArchiver"),
            "$version": .integer(100_000),
            "$top": .dictionary(["root": root]),
            "$objects": .array(objects),
        ])
    }

    private mutating func append(_ value: PropertyListValue) -> PropertyListValue {
        objects.append(value)
        return .uid(objects.count - 1)
    }

    private mutating func classReference(_ ancestry: [String]) -> PropertyListValue {
        let name = ancestry.first ?? "NSObject"
        if let known = classes[name] { return known }
        let reference = append(
            .dictionary(["$classname": .string(name), "$classes": .array(ancestry.map { .string($0) })])
        )
        classes[name] = reference
        return reference
    }
}

extension KeyedArchiveWriter {
    /// Adds the expression of a derived attribute; returns the null reference for an unknown form.
    package mutating func expression(_ text: String) -> PropertyListValue {
        if text.hasSuffix(".@count") {
            return function("count:", [keyPath(String(text.dropLast(".@count".count)))])
        }
        guard let parenthesis = text.firstIndex(of: "(") else { return keyPath(text) }
        guard text.hasSuffix(")") else { return Self.null }
        let name = String(text[..<parenthesis])
        let argument = text[text.index(after: parenthesis)...].dropLast()
        if argument.isEmpty { return function(name, []) }
        guard Self.isKeyPath(argument) else { return Self.null }
        return function(name, [keyPath(String(argument))])
    }

    private static func isKeyPath(_ text: Substring) -> Bool {
        text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
    }

    private mutating func function(_ name: String, _ arguments: [PropertyListValue]) -> PropertyListValue {
        let operand = object(
            ["NSConstantValueExpression", "NSExpression", "NSObject"],
            ["NSExpressionType": .integer(0), "NSConstantValueClassName": string("_NSPredicateUtilities")]
        )
        return object(
            ["NSFunctionExpression", "NSExpression", "NSObject"],
            [
                "NSExpressionType": .integer(4), "NSOperand": operand, "NSSelectorName": string(name),
                "NSArguments": array(arguments),
            ]
        )
    }

    private mutating func keyPath(_ path: String) -> PropertyListValue {
        let specifier = object(
            ["NSKeyPathSpecifierExpression", "NSExpression", "NSObject"],
            ["NSExpressionType": .integer(10), "NSKeyPath": string(path)]
        )
        let operand = object(
            ["NSSelfExpression", "NSExpression", "NSObject"],
            ["NSExpressionType": .integer(1)]
        )
        return object(
            ["NSKeyPathExpression", "NSFunctionExpression", "NSExpression", "NSObject"],
            [
                "NSExpressionType": .integer(3), "NSOperand": operand,
                "NSSelectorName": string(path.contains(".") ? "valueForKeyPath:" : "valueForKey:"),
                "NSArguments": array([specifier], mutable: true),
            ]
        )
    }
}

extension AttributeDescription.AttributeType {
    /// The class of the values, as a model archive names it.
    var valueClassName: String? {
        switch self {
        case .integer16, .integer32, .integer64, .double, .float, .boolean: "NSNumber"
        case .decimal: "NSDecimalNumber"
        case .string: "NSString"
        case .date: "NSDate"
        case .binaryData: "NSData"
        case .uuid: "NSUUID"
        case .uri: "NSURL"
        case .undefined, .transformable, .objectID, .composite: nil
        }
    }
}
