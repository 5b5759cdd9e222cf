package import StoreFormat

/// A fetch request whose names are resolved in a model.
package struct ResolvedFetch: Sendable {
    /// One key of the order.
    struct SortKey: Hashable, Sendable {
        let operand: ResolvedOperand
        let options: StringOptions
        let ascending: Bool
    }

    /// One value of a dictionary.
    enum Property: Hashable, Sendable {
        case value(ResolvedOperand)
        case object(ResolvedSubject)
    }

    package let request: FetchRequest<ManagedObject>
    package let predicate: ResolvedPredicate?
    let sortKeys: [SortKey]
    let properties: [(name: String, property: Property)]

    init(
        request: FetchRequest<ManagedObject>,
        predicate: ResolvedPredicate?,
        sortKeys: [SortKey],
        properties: [(name: String, property: Property)]
    ) {
        self.request = request
        self.predicate = predicate
        self.sortKeys = sortKeys
        self.properties = properties
    }

    init(_ request: FetchRequest<ManagedObject>, in model: ManagedObjectModel) throws(FetchError) {
        let entity = request.entityName
        guard model.entitiesByName[entity] != nil else { throw FetchError(unknown: entity, in: model) }
        self.request = request
        predicate = try request.predicate?.resolved(for: entity, in: model)
        var keys: [SortKey] = []
        for descriptor in request.sortDescriptors { keys.append(try Self.sortKey(descriptor, of: entity, in: model)) }
        sortKeys = keys
        var properties: [(name: String, property: Property)] = []
        if request.returnsDictionaries {
            let names =
                request.propertiesToFetch.isEmpty
                ? model.attributes(of: entity).filter { !$0.isTransient }.map(\.name) : request.propertiesToFetch
            for name in names { properties.append((name, try Self.property(name, of: entity, in: model))) }
        }
        self.properties = properties
    }

    private static func sortKey(
        _ descriptor: FetchRequest<ManagedObject>.SortDescriptor,
        of entity: String,
        in model: ManagedObjectModel
    ) throws(FetchError) -> SortKey {
        let operand = try operand(descriptor.keyPath, of: entity, in: model)
        return SortKey(operand: operand, options: descriptor.comparison.options, ascending: descriptor.ascending)
    }

    /// Resolves a key path to a value that can be ordered.
    static func operand(
        _ keyPath: String,
        of entity: String,
        in model: ManagedObjectModel
    ) throws(FetchError) -> ResolvedOperand {
        guard case .value(let operand) = try property(keyPath, of: entity, in: model) else {
            throw FetchError(
                entity: entity,
                keyPath: keyPath,
                message: "objects cannot be ordered: name one of their attributes"
            )
        }
        if case .attribute(_, let attribute) = operand,
            attribute.type == .transformable || attribute.allowsExternalBinaryDataStorage
        {
            throw FetchError(
                entity: entity,
                keyPath: keyPath,
                message: "transformable values and external binary data cannot be ordered"
            )
        }
        return operand
    }

    private static func property(
        _ keyPath: String,
        of entity: String,
        in model: ManagedObjectModel
    ) throws(FetchError) -> Property {
        let names = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let path = try PredicatePath(names, of: entity, in: model)
        if let toMany = path.toMany.first {
            throw FetchError(
                entity: entity,
                keyPath: keyPath,
                message: "'\(toMany.hop.relationship.name)' is a to-many relationship: only its @count is allowed here"
            )
        }
        switch path.leaf {
        case .attribute(let attribute): return .value(.attribute(path.subject, attribute))
        case .count(let hop): return .value(.count(path.subject, hop))
        case .computed(let operand, _): return .value(operand)
        case .object: return .object(path.subject)
        case .entity:
            throw FetchError(entity: entity, keyPath: keyPath, message: "an entity is not allowed here")
        }
    }
}

extension FetchRequest where Object == ManagedObject {
    /// Resolves the request's names in a model; throws for names that do not fit.
    package func resolved(in model: ManagedObjectModel) throws(FetchError) -> ResolvedFetch {
        try ResolvedFetch(self, in: model)
    }
}
