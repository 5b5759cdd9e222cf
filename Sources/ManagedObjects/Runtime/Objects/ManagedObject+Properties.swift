public import StoreFormat

/// What the properties of a ``TypedObject`` read and set.
///
/// A property cannot throw, because a key path cannot lead to one that does. A value that cannot be read, since the store
/// or an external file fails, counts as missing: nil, an empty collection, or ``MandatoryAttribute/absentValue``. The
/// context keeps the error, and its next save throws it; ``TypedObject/value(of:)`` throws it at once. Destinations that could
/// not be read are not set until they can be. A change of an object without a context is ignored.
extension ManagedObject {
    /// An attribute; nil without a value and for a stored value of another type.
    public subscript<Value: AttributeConvertible>(attribute key: String) -> Value? {
        @inlinable
        get {
            if let value = presentValue(key) { return Value(attributeValue: value) }
            return remoteAttribute(key)
        }
        set { writing { try setValue(newValue, forKey: key) } }
    }

    /// An attribute that the model requires.
    public subscript<Value: MandatoryAttribute>(mandatory key: String) -> Value {
        @inlinable
        get {
            if let value = presentValue(key) { return Value(attributeValue: value) ?? Value.absentValue }
            return remoteAttribute(key) ?? Value.absentValue
        }
        set {
            writing {
                if newValue.attributeValue == Value.absentValue.attributeValue,
                    try replacesStoredValue(of: key, where: { Value(attributeValue: $0) == nil })
                {
                    return
                }
                try setValue(newValue, forKey: key)
            }
        }
    }

    /// An attribute as a case of an enumeration; nil for a raw value that is none.
    public subscript<Value: RawRepresentable>(rawValue key: String) -> Value?
    where Value.RawValue: AttributeConvertible {
        get { self[attribute: key].flatMap(Value.init) }
        set { self[attribute: key] = newValue?.rawValue }
    }

    /// An attribute that the model requires, as a case of an enumeration.
    public subscript<Value: MandatoryEnumeration>(mandatoryRawValue key: String) -> Value {
        get { self[rawValue: key] ?? Value.absentValue }
        set {
            writing {
                if newValue.rawValue.attributeValue == Value.absentValue.rawValue.attributeValue,
                    try replacesStoredValue(
                        of: key,
                        where: { Value.RawValue(attributeValue: $0).flatMap(Value.init) == nil }
                    )
                {
                    return
                }
                try setValue(newValue.rawValue, forKey: key)
            }
        }
    }

    /// The destination of a to-one relationship.
    public subscript<Destination: ManagedObject>(toOne key: String) -> Destination? {
        get { reading { try object(forKey: key).map { try ObjectGraph.typed([$0])[0] } } ?? nil }
        set { writing { try setObject(newValue, forKey: key) } }
    }

    /// The destinations of a to-many relationship without an order.
    public subscript<Destination: ManagedObject>(toMany key: String) -> Set<Destination> {
        get {
            let objects: [Destination] = destinations(key)
            return Set(objects)
        }
        set { writing(destinationsOf: key) { try setObjects(Array(newValue), forKey: key) } }
    }

    /// The destinations of an ordered to-many relationship.
    public subscript<Destination: ManagedObject>(ordered key: String) -> [Destination] {
        get { destinations(key) }
        set { writing(destinationsOf: key) { try setObjects(newValue, forKey: key) } }
    }

    /// The objects that a fetched property finds; `$FETCH_SOURCE` in its predicate is this object.
    public func fetchedProperty<Object: TypedObject>(
        _ type: Object.Type,
        predicate: String?,
        sortDescriptors: [FetchRequest<Object>.SortDescriptor] = [],
        fetchLimit: Int = 0
    ) throws -> [Object] {
        let graph = try requireContext()
        guard let context = graph.context else { return [] }
        var request = FetchRequest<Object>(sortDescriptors: sortDescriptors)
        request.predicate = try predicate.map {
            try FetchPredicate(format: $0).withSubstitutionVariables(["FETCH_SOURCE": objectID])
        }
        request.fetchLimit = fetchLimit
        context.persistentStoreCoordinator.adopt(type)
        let fetch = try FetchRequest<ManagedObject>(request).resolved(in: graph.source.shape().model)
        return try ObjectGraph.typed(graph.fetch(fetch))
    }

    /// The value of an attribute that needs neither the store nor a file, which most reads find; nil for any other.
    ///
    /// The getters are compiled in the app, where the type is known: each generic call would look up metadata.
    @usableFromInline func presentValue(_ key: String) -> AttributeValue? {
        guard !status.contains(.fault), case .attribute(let index)? = shape.property(key) else { return nil }
        let value = attribute(index)
        if case .externalData = value { return nil }
        return value
    }

    /// An attribute that the store or a file has.
    @usableFromInline func remoteAttribute<Value: AttributeConvertible>(_ key: String) -> Value? {
        reading { try value(Value.self, forKey: key) } ?? nil
    }

    /// True if reading the attribute gives ``MandatoryAttribute/absentValue`` in place of what the store has.
    ///
    /// Setting that value then changes nothing: the stored value is not replaced by one that the property made up.
    private func replacesStoredValue(
        of key: String,
        where isUnusable: (AttributeValue) -> Bool
    ) throws -> Bool {
        let value = try rawValue(forKey: key)
        if case .externalData = value { return false }
        guard let base, case .attribute(let index)? = shape.property(key), base.attribute(index) == value else {
            return false
        }
        return isUnusable(value)
    }

    private func destinations<Destination: ManagedObject>(_ key: String) -> [Destination] {
        let destinations: [Destination]? = reading { try ObjectGraph.typed(objects(forKey: key)) }
        graph?.note(isReadable: destinations != nil, objectID, key)
        return destinations ?? []
    }

    private func reading<Value>(_ body: () throws -> Value) -> Value? {
        do {
            return try body()
        } catch {
            graph?.keepFailure(error)
            return nil
        }
    }

    /// Sets destinations, unless they could not be read: an insertion into the empty collection would remove them all.
    private func writing(destinationsOf key: String, _ body: () throws -> Void) {
        guard graph?.isReadable(objectID, key) != false else {
            let message = "\(shape.name).\(key) could not be read, and is not set: read it with value(of:)"
            graph?.keepFailure(ManagedObjectError(.wrongType, message, objectIDs: [objectID]))
            return
        }
        writing(body)
    }

    private func writing(_ body: () throws -> Void) {
        do { try body() } catch { graph?.keepFailure(error) }
    }
}
