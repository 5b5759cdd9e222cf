internal import StoreFormat

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
