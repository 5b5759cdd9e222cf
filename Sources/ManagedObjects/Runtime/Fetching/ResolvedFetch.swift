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

extension ResolvedFetch {
    /// The other entities whose objects affect the result or its order.
    package var dependencies: Set<String> {
        var result: Set<String> = []
        predicate?.node.collectDependencies(into: &result)
        for key in sortKeys { key.operand.collectDependencies(into: &result) }
        return result
    }

    /// The fetch with temporary IDs of saved objects replaced by their permanent IDs.
    func renaming(_ permanentIDs: PermanentIDs) -> ResolvedFetch {
        guard let predicate else { return self }
        return ResolvedFetch(
            request: request,
            predicate: ResolvedPredicate(entity: predicate.entity, node: predicate.node.renaming(permanentIDs)),
            sortKeys: sortKeys,
            properties: properties
        )
    }

    /// The fetch restricted to some objects, unordered.
    func among(_ ids: [ManagedObjectID]) -> ResolvedFetch {
        let entity = request.entityName
        let these = ResolvedNode.object(ResolvedSubject(scope: 0, entity: entity), ids, orNil: false)
        let fetch = windowless(withPredicate: true)
        return ResolvedFetch(
            request: fetch.request,
            predicate: ResolvedPredicate(entity: entity, node: .all([these] + (predicate.map { [$0.node] } ?? []))),
            sortKeys: [],
            properties: []
        )
    }

    /// The fetch of all matching objects, or of all objects, without limit and offset.
    func windowless(withPredicate: Bool) -> ResolvedFetch {
        var request = request
        request.fetchLimit = 0
        request.fetchOffset = 0
        return ResolvedFetch(
            request: request,
            predicate: withPredicate ? predicate : nil,
            sortKeys: [],
            properties: properties
        )
    }
}

extension ResolvedNode {
    fileprivate func collectDependencies(into result: inout Set<String>) {
        switch self {
        case .value: break
        case .not(let node): node.collectDependencies(into: &result)
        case .all(let nodes), .any(let nodes):
            for node in nodes { node.collectDependencies(into: &result) }
        case .compare(let first, _, let second, _), .text(let first, _, let second, _):
            first.collectDependencies(into: &result)
            second.collectDependencies(into: &result)
        case .member(let operand, _, _): operand.collectDependencies(into: &result)
        case .object(let subject, _, _): subject.owner.collectDependencies(into: &result)
        case .entity(let subject, _): subject.collectDependencies(into: &result)
        case .sameObject(let first, let second):
            first.owner.collectDependencies(into: &result)
            second.owner.collectDependencies(into: &result)
        case .exists(let owner, let hop, let node):
            owner.collectDependencies(into: &result)
            result.insert(hop.relationship.destination)
            node.collectDependencies(into: &result)
        }
    }
}

extension ResolvedOperand {
    /// The other entities on whose objects the value depends.
    var dependencies: Set<String> {
        var result: Set<String> = []
        collectDependencies(into: &result)
        return result
    }

    fileprivate func collectDependencies(into result: inout Set<String>) {
        switch self {
        case .constant: break
        case .attribute(let subject, _): subject.collectDependencies(into: &result)
        case .count(let subject, let hop):
            subject.collectDependencies(into: &result)
            result.insert(hop.relationship.destination)
        case .countWhere(let subject, let hop, _, let condition):
            subject.collectDependencies(into: &result)
            result.insert(hop.relationship.destination)
            condition.collectDependencies(into: &result)
        case .aggregate(_, let subject, let hop, let value):
            subject.collectDependencies(into: &result)
            result.insert(hop.relationship.destination)
            value.collectDependencies(into: &result)
        }
    }
}

extension ResolvedSubject {
    /// The object whose to-one relationship has this one as destination, or the object itself.
    fileprivate var owner: ResolvedSubject {
        var owner = self
        if !owner.hops.isEmpty { owner.hops.removeLast() }
        return owner
    }

    fileprivate func collectDependencies(into result: inout Set<String>) {
        for hop in hops { result.insert(hop.relationship.destination) }
    }
}
