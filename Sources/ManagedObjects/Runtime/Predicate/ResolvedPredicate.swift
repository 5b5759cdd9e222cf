internal import StoreAccess
internal import StoreFormat

/// A predicate with its names resolved in a model: the input of both the SQL compiler and the evaluator.
package struct ResolvedPredicate: Hashable, Sendable {
    /// The entity whose objects it describes.
    package let entity: String
    let node: ResolvedNode
}

/// A condition that is true or false for an object.
indirect enum ResolvedNode: Hashable, Sendable {
    case value(Bool)
    case not(ResolvedNode)
    case all([ResolvedNode])
    case any([ResolvedNode])
    /// Nil equals nil and is neither less nor greater than any value.
    case compare(ResolvedOperand, Order, ResolvedOperand, StringOptions)
    /// The operand equals one of the values, which are folded already; a null among them matches nil.
    case member(ResolvedOperand, [SQLValue], StringOptions)
    case text(ResolvedOperand, StringOperator, ResolvedOperand, StringOptions)
    /// The object is one of these, or is nil if `orNil`.
    case object(ResolvedSubject, [ManagedObjectID], orNil: Bool)
    case sameObject(ResolvedSubject, ResolvedSubject)
    /// The object's concrete entity has one of these names.
    case entity(ResolvedSubject, [String])
    /// The condition is true for an object of the to-many relationship, which is one scope further in.
    case exists(ResolvedSubject, ResolvedHop, ResolvedNode)

    /// An order relation between operands.
    enum Order: Hashable, Sendable {
        case equal
        case less
        case lessOrEqual
    }
}

/// A side of a comparison.
indirect enum ResolvedOperand: Hashable, Sendable {
    case constant(SQLValue)
    case attribute(ResolvedSubject, AttributeDescription)
    /// The number of objects in a to-many relationship.
    case count(ResolvedSubject, ResolvedHop)
    /// The number of objects that match a condition.
    ///
    /// The condition uses the first `depth` scopes and the objects as one more.
    case countWhere(ResolvedSubject, ResolvedHop, depth: Int, ResolvedNode)
    /// The aggregate of a value of each object, which is one scope further in than the objects' owner.
    case aggregate(PredicateAggregate, ResolvedSubject, ResolvedHop, ResolvedOperand)

    /// True for a number that may be stored as the text `NaN`, which is unordered.
    var mayBeNaN: Bool {
        switch self {
        case .attribute(_, let attribute): attribute.type == .decimal
        case .aggregate(.minimum, _, _, let value), .aggregate(.maximum, _, _, let value): value.mayBeNaN
        case .constant, .count, .countWhere, .aggregate: false
        }
    }
}

/// An object, as reached from the fetched objects.
struct ResolvedSubject: Hashable, Sendable {
    /// 0 is the fetched object, 1 an object of its to-many relationship, and so on.
    let scope: Int
    /// The entity of the scope's objects.
    let entity: String
    /// The to-one relationships from the scope's object to this one.
    var hops: [ResolvedHop] = []

    /// The object's entity according to the model.
    var destination: String { hops.last?.relationship.destination ?? entity }
}

/// A relationship and the entity that it starts from.
struct ResolvedHop: Hashable, Sendable {
    let entity: String
    let relationship: RelationshipDescription
}

/// One side of a comparison, with its names resolved.
struct PredicateSide {
    enum Content {
        case constant(PredicateConstant)
        case path(PredicatePath)
    }

    /// The key path, for messages; empty for a constant.
    let names: [String]
    let content: Content

    init(names: [String], content: Content) {
        self.names = names
        self.content = content
    }

    init(_ constant: PredicateConstant) {
        self.init(names: [], content: .constant(constant))
    }

    var path: PredicatePath? {
        if case .path(let path) = content { path } else { nil }
    }

    var isNull: Bool {
        if case .constant(.value(.null)) = content { true } else { false }
    }

    var isObject: Bool {
        switch content {
        case .constant(.object): true
        case .constant: false
        case .path(let path): if case .object = path.leaf { true } else { false }
        }
    }

    var isEntity: Bool {
        if case .path(let path) = content, case .entity = path.leaf { true } else { false }
    }
}

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
