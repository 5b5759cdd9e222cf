public import StoreFormat

extension ManagedObject {
    /// The value of an attribute; external binary data is read from its file.
    public func value(forKey key: String) throws -> AttributeValue {
        let value = try rawValue(forKey: key)
        guard case .externalData(let reference) = value, let graph else { return value }
        return .data(try graph.source.externalData(reference.fileName, of: objectID))
    }

    /// The value of an attribute as a Swift type; nil when there is none or it has another type.
    public func value<T: AttributeConvertible>(_ type: T.Type = T.self, forKey key: String) throws -> T? {
        T(attributeValue: try value(forKey: key))
    }

    /// The value of an attribute as stored; external binary data is not read.
    package func rawValue(forKey key: String) throws -> AttributeValue {
        // The row may have a subentity of the ID's entity.
        try graph?.fire(self)
        let index = try attribute(key)
        return attributes.indices.contains(index) ? attributes[index] : .null
    }

    /// Sets an attribute, after converting the value to its type.
    public func setValue(_ value: AttributeValue, forKey key: String) throws {
        let graph = try requireContext()
        try graph.fire(self)
        let index = try attribute(key)
        let description = shape.attributes[index]
        guard !description.isDerived else {
            throw ManagedObjectError(.wrongType, "\(shape.name).\(key) is derived by the store and cannot be set")
        }
        guard let converted = value.converted(to: description.type) else {
            throw ManagedObjectError(.wrongType, "the value does not fit the type of \(shape.name).\(key)")
        }
        try graph.markChanged(self)
        attributes[index] = converted
        changed.insert(.attribute(index))
    }

    /// Sets an attribute; nil clears it.
    public func setValue<T: AttributeConvertible>(_ value: T?, forKey key: String) throws {
        try setValue(value?.attributeValue ?? AttributeValue.null, forKey: key)
    }

    private func attribute(_ key: String) throws -> Int {
        guard let property = shape.property(key) else {
            throw ManagedObjectError(.unknownProperty, "\(shape.name) has no property \(key)")
        }
        guard case .attribute(let index) = property else {
            throw ManagedObjectError(.unknownProperty, "\(shape.name).\(key) is a relationship, not an attribute")
        }
        return index
    }

    /// The properties whose values differ from the base.
    func changedProperties() -> [ObjectShape.Property] {
        var result = changed.filter { property in
            switch property {
            case .attribute(let index):
                !shape.attributes[index].isTransient && attributes[index] != (base?.attributes[index] ?? .null)
            case .toOne(let index): toOnes[index] != (base?.toOnes[index] ?? nil)
            case .toMany: false
            }
        }
        for (index, value) in toManys where value.hasChanges { result.insert(.toMany(index)) }
        return Array(result)
    }
}
