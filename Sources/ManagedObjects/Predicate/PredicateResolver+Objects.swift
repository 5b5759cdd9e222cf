internal import StoreFormat

extension PredicateResolver {
    /// Compares objects by identity.
    func objects(_ left: PredicateSide, _ right: PredicateSide) throws(FetchError) -> ResolvedNode {
        switch (left.content, right.content) {
        case (.path(let first), .path(let second)):
            guard case .object = first.leaf, case .object = second.leaf else {
                throw error(left.names + right.names, "an object can only be compared with an object")
            }
            return .sameObject(first.subject, second.subject)
        case (.path, .constant(let constant)): return try objects(left, among: [constant])
        case (.constant(let constant), .path): return try objects(right, among: [constant])
        case (.constant(let first), .constant(let second)): return .value(first == second)
        }
    }

    func objects(_ side: PredicateSide, among constants: [PredicateConstant]) throws(FetchError) -> ResolvedNode {
        var ids: [ManagedObjectID] = []
        var orNil = false
        for constant in constants {
            switch constant {
            case .object(let id): ids.append(id)
            case .value(.null): orNil = true
            default: throw error(side.names, "an object can only be compared with an object, an object ID or nil")
            }
        }
        guard case .path(let path) = side.content, case .object = path.leaf else {
            throw error(side.names, "only objects can be compared with objects")
        }
        return .object(path.subject, ids, orNil: orNil)
    }

    /// Compares the entity of an object with a name.
    func entities(_ left: PredicateSide, _ right: PredicateSide) throws(FetchError) -> ResolvedNode {
        let (path, other) = left.isEntity ? (left, right) : (right, left)
        guard case .path(let entityPath) = path.content, case .constant(.value(.string(let name))) = other.content
        else {
            throw error(path.names, "an entity can only be compared with a string, its name")
        }
        guard model.entitiesByName[name] != nil else { throw error(path.names, "the model has no entity '\(name)'") }
        return .entity(entityPath.subject, [name])
    }
}
