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
