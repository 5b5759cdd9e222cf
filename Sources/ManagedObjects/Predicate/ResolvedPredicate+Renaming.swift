extension ResolvedNode {
    /// The condition with temporary IDs replaced by permanent ones.
    func renaming(_ ids: PermanentIDs) -> ResolvedNode {
        switch self {
        case .value, .sameObject, .entity: self
        case .not(let node): .not(node.renaming(ids))
        case .all(let nodes): .all(nodes.map { $0.renaming(ids) })
        case .any(let nodes): .any(nodes.map { $0.renaming(ids) })
        case .compare(let first, let order, let second, let options):
            .compare(first.renaming(ids), order, second.renaming(ids), options)
        case .member(let operand, let values, let options): .member(operand.renaming(ids), values, options)
        case .text(let first, let operation, let second, let options):
            .text(first.renaming(ids), operation, second.renaming(ids), options)
        case .object(let subject, let named, let orNil):
            .object(subject, named.map { $0.isTemporaryID ? ids[$0] ?? $0 : $0 }, orNil: orNil)
        case .exists(let owner, let hop, let node): .exists(owner, hop, node.renaming(ids))
        }
    }
}

extension ResolvedOperand {
    fileprivate func renaming(_ ids: PermanentIDs) -> ResolvedOperand {
        switch self {
        case .constant, .attribute, .count, .aggregate: self
        case .countWhere(let owner, let hop, let depth, let node):
            .countWhere(owner, hop, depth: depth, node.renaming(ids))
        }
    }
}
