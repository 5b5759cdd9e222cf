/// Reads the archives that `NSKeyedArchiver` writes, object by object.
///
/// Nothing is instantiated: an object is its class name and its fields, and a reference is resolved on demand. Cycles
/// are therefore harmless, as long as the caller limits its depth.
package struct KeyedArchiveReader: Sendable {
    /// One archived object.
    package struct Object: Sendable {
        /// Its index in the archive, which is its identity.
        package let index: Int
        package let className: String
        package let fields: [String: PropertyListValue]
    }

    private let objects: [PropertyListValue]
    private let top: [String: PropertyListValue]

    /// Reads a decoded property list; throws if it is not an archive.
    package init(_ propertyList: PropertyListValue) throws {
        guard
            case .dictionary(let archive) = propertyList,
            case .string("NSKeyedArchiver")? = archive["$archiver"],
            case .array(let objects)? = archive["$objects"],
            case .dictionary(let top)? = archive["$top"]
        else { throw UndecodableData("the property list is not a keyed archive") }
        self.objects = objects
        self.top = top
    }

    /// The object archived under a name; archives of one object use `root`.
    package func topObject(_ name: String = "root") -> Object? {
        top[name].flatMap(object)
    }

    /// Resolves a reference; nil for the archive's nil and for dangling references.
    package func resolve(_ value: PropertyListValue?) -> PropertyListValue? {
        guard case .uid(let index)? = value else { return value }
        guard objects.indices.contains(index) else { return nil }
        // A reference to a reference does not occur, and would allow endless chains.
        switch objects[index] {
        case .string("$null"), .uid: return nil
        case let value: return value
        }
    }

    /// The object that a field refers to; nil for a plain value or nil.
    package func object(_ value: PropertyListValue?) -> Object? {
        guard
            case .uid(let index)? = value, case .dictionary(let fields)? = resolve(value),
            case .dictionary(let description)? = resolve(fields["$class"]),
            case .string(let name)? = description["$classname"]
        else { return nil }
        return Object(index: index, className: name, fields: fields)
    }

    /// The text of a plain string or of an archived `NSString`.
    package func string(_ value: PropertyListValue?) -> String? {
        switch resolve(value) {
        case .string(let text): return text
        case .dictionary(let fields):
            switch fields["NS.string"] ?? fields["NS.bytes"] {
            case .string(let text): return text
            case .data(let bytes): return String(decoding: bytes, as: UTF8.self)
            default: return nil
            }
        default: return nil
        }
    }

    /// The number of a plain integer or boolean, also behind a reference.
    package func integer(_ value: PropertyListValue?) -> Int64? {
        switch resolve(value) {
        case .integer(let number): number
        case .boolean(let flag): flag ? 1 : 0
        default: nil
        }
    }

    /// True if the value exists and is neither false nor 0; archives omit false values.
    package func flag(_ value: PropertyListValue?) -> Bool {
        integer(value).map { $0 != 0 } ?? false
    }
}

extension KeyedArchiveReader {
    /// The members of an archived array, set or ordered set, unresolved; nil for any other object.
    package func elements(_ value: PropertyListValue?) -> [PropertyListValue]? {
        switch resolve(value) {
        case .array(let members): return members
        case .dictionary(let fields): return elements(of: fields)
        default: return nil
        }
    }

    /// The entries of an archived dictionary with string keys, values unresolved; nil for any other object.
    ///
    /// `NSKnownKeysDictionary1` keeps its keys in a mapping that its instances share.
    package func dictionary(_ value: PropertyListValue?) -> [String: PropertyListValue]? {
        guard case .dictionary(let fields)? = resolve(value) else { return nil }
        let keys: [PropertyListValue]
        let values: [PropertyListValue]
        if let mapping = fields["searchMapping"] {
            guard
                case .dictionary(let strategy)? = resolve(mapping),
                let known = elements(strategy["keys"]), let members = elements(fields["values"])
            else { return nil }
            keys = known
            values = members
        } else if case .array(let names)? = fields["NS.keys"], case .array(let members)? = fields["NS.objects"] {
            keys = names
            values = members
        } else {
            return fields["$class"] == nil ? fields : nil
        }
        var result: [String: PropertyListValue] = [:]
        for (key, value) in zip(keys, values) {
            if let key = string(key) { result[key] = value }
        }
        return result
    }

    /// Old archives number the members instead of listing them.
    private func elements(of fields: [String: PropertyListValue]) -> [PropertyListValue]? {
        if case .array(let members)? = fields["NS.objects"] { return members }
        guard fields["NS.object.0"] != nil else { return fields["$class"] == nil ? nil : [] }
        var result: [PropertyListValue] = []
        while let member = fields["NS.object.\(result.count)"] { result.append(member) }
        return result
    }
}
