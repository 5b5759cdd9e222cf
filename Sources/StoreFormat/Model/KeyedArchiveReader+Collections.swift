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
