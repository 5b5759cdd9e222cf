/// Swift identifiers for the names of a model, by a rule that gives the same result for the same model.
///
/// A class has the entity's name in upper camel case, a property its own in lower camel case: `first name` becomes
/// `firstName`, `URLString` becomes `urlString`, `NAME` becomes `name`. Characters that no identifier may contain are
/// omitted. A name that is taken gets the suffix `Object` or `Property`, then numbers.
enum SwiftName {
    /// The class name for an entity.
    static func type(_ name: String, taken: inout Set<String>) -> String {
        let identifier = upperCamel(parts(of: name))
        return unique(startingWithLetter(identifier) ?? "Entity", suffix: "Object", reservedTypes, &taken)
    }

    /// The property name for a property, without backticks.
    static func property(_ name: String, taken: inout Set<String>) -> String {
        let identifier = lowerCamel(parts(of: name))
        return unique(startingWithLetter(identifier) ?? "property", suffix: "Property", reservedMembers, &taken)
    }

    /// The identifier as source text: a keyword in backticks.
    static func escaped(_ identifier: String) -> String {
        keywords.contains(identifier) ? "`\(identifier)`" : identifier
    }

    /// True for a type name, possibly with the names of enclosing types or a module before it.
    static func isType(_ name: String) -> Bool {
        let names = name.split(separator: ".", omittingEmptySubsequences: false)
        return !names.isEmpty
            && names.allSatisfy { name in
                parts(of: String(name)) == [String(name)] && !keywords.contains(String(name))
                    && startingWithLetter(String(name)) == String(name)
            }
    }

    /// True for the name of a type that may be an enumeration: not one of the scalar types that model editors note.
    static func isEnumeration(_ name: String) -> Bool { isType(name) && !scalars.contains(name) }

    /// A text as a string literal.
    static func literal(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\" + String(scalar)
            case _ where isInvisible(scalar): result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// A text without characters that would end or hide parts of a comment line.
    static func commentLines(_ text: String) -> [String] {
        text.split(whereSeparator: \.isNewline)
            .map { line in
                var scalars = String.UnicodeScalarView()
                scalars.append(contentsOf: line.unicodeScalars.filter { !isInvisible($0) })
                return String(String(scalars).trimmedSpace)
            }
            .filter { !$0.isEmpty }
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: true
        default: false
        }
    }

    // MARK: Parts

    /// The parts of a name between the characters that an identifier may not contain, or that are invisible in it.
    private static func parts(of name: String) -> [String] {
        name.unicodeScalars
            .split { scalar in
                !scalar.properties.isXIDContinue || isInvisible(scalar) || scalar == "\u{B7}"
                    // For example the variation selector after an emoji.
                    || scalar.properties.isDefaultIgnorableCodePoint || scalar.properties.isVariationSelector
            }
            .map { String(String.UnicodeScalarView($0)) }
    }

    private static func upperCamel(_ parts: [String]) -> String {
        parts.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    private static func lowerCamel(_ parts: [String]) -> String {
        guard let first = parts.first else { return "" }
        return lowerFirst(first) + upperCamel(Array(parts.dropFirst()))
    }

    /// The word with its leading capitals in lower case, except for the capital that begins the next word.
    private static func lowerFirst(_ word: String) -> String {
        guard word.contains(where: \.isLowercase) else { return word.lowercased() }
        let capitals = word.prefix(while: \.isUppercase)
        let rest = word.dropFirst(capitals.count)
        guard capitals.count > 1, rest.first?.isLetter == true else { return capitals.lowercased() + rest }
        return capitals.dropLast().lowercased() + capitals.suffix(1) + rest
    }

    /// An identifier that begins as Swift demands; nil for one of underscores alone.
    private static func startingWithLetter(_ identifier: String) -> String? {
        guard let first = identifier.unicodeScalars.first, identifier.contains(where: { $0 != "_" }) else { return nil }
        return first == "_" || first.properties.isXIDStart ? identifier : "_" + identifier
    }

    private static func unique(
        _ name: String,
        suffix: String,
        _ reserved: Set<String>,
        _ taken: inout Set<String>
    ) -> String {
        var candidate = name
        var number = 1
        while reserved.contains(candidate) || taken.contains(candidate) {
            candidate = name + suffix + (number == 1 ? "" : "\(number)")
            number += 1
        }
        taken.insert(candidate)
        return candidate
    }

    // MARK: Words

    /// The keywords that need backticks.
    private static let keywords: Set<String> = [
        "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import", "init", "inout",
        "internal", "let", "open", "operator", "private", "precedencegroup", "protocol", "public", "rethrows", "static",
        "struct", "subscript", "typealias", "var", "break", "case", "catch", "continue", "default", "defer", "do",
        "else", "fallthrough", "for", "guard", "if", "in", "repeat", "return", "throw", "switch", "where", "while",
        "Any", "as", "await", "false", "is", "nil", "self", "Self", "super", "throws", "true", "try",
    ]

    /// The types of single values in Swift, Foundation and C.
    private static let scalars: Set<String> = [
        "BOOL", "Bool", "CGFloat", "Character", "Data", "Date", "Decimal", "Double", "Float", "Float16", "Float32",
        "Float64",
        "Float80", "Foundation.Data", "Foundation.Date", "Foundation.Decimal", "Foundation.URL", "Foundation.UUID",
        "Int",
        "Int128", "Int16", "Int32", "Int64", "Int8", "NSData", "NSDate", "NSDecimalNumber", "NSInteger", "NSNumber",
        "NSString", "NSTimeInterval", "NSUInteger", "NSURL", "NSUUID", "String", "Swift.Bool", "Swift.Double",
        "Swift.Float", "Swift.Int", "Swift.Int16", "Swift.Int32", "Swift.Int64", "Swift.String", "TimeInterval", "UInt",
        "UInt128", "UInt16", "UInt32", "UInt64", "UInt8", "URL", "UUID", "bool", "char", "double", "float", "int",
        "int16_t", "int32_t", "int64_t", "int8_t", "long", "short", "uint16_t", "uint32_t", "uint64_t", "uint8_t",
        "unsigned",
    ]

    /// Words after a dot with a meaning of their own, and members that every object has.
    private static let reservedMembers: Set<String> = [
        "self", "Self", "init", "deinit", "subscript", "Type", "Protocol",
        "objectID", "entity", "managedObjectContext", "isInserted", "isUpdated", "isDeleted", "isFault", "hasChanges",
        "hasPersistentChangedValues", "changedValueKeys", "predicateConstant", "hash", "hashValue", "value", "setValue",
        "object", "objects", "objectIDs", "setObject", "setObjects", "add", "remove", "hasFault", "awakeFromInsert",
        "awakeFromFetch", "willSave", "didSave", "willAccessValue", "fetchedProperty", "allClasses",
    ]

    /// Types of the language and of the libraries that generated code names, or that an app would miss.
    private static let reservedTypes: Set<String> = [
        "Any", "AnyObject", "Array", "AttributeValue", "Bool", "Character", "Data", "Date", "Decimal", "Dictionary",
        "Double", "Error", "FetchPredicate", "FetchRequest", "Float", "Int", "Int16", "Int32", "Int64", "KeyPath",
        "ManagedObject", "ManagedObjectContext", "ManagedObjectID", "ManagedObjectModel", "Never", "Optional",
        "Protocol", "Result", "Self", "Set", "String", "Subclass", "Task", "Type", "TypedObject", "TypedPredicate",
        "TypedProperty", "URL", "UUID", "Void",
    ]
}

extension StringProtocol {
    /// The text without spaces at its ends.
    fileprivate var trimmedSpace: SubSequence {
        let start = drop(while: \.isWhitespace)
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return start.prefix(0) }
        return start[...last]
    }
}
