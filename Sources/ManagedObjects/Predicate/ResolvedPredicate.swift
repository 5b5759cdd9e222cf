internal import StoreFormat

/// A predicate whose names were looked up in a model: what the SQL and the evaluation in memory are both made of.
package struct ResolvedPredicate: Hashable, Sendable {
    /// The entity whose objects it is about.
    package let entity: String
    let node: ResolvedNode
}

/// A condition that is true or false for an object.
indirect enum ResolvedNode: Hashable, Sendable {
    case value(Bool)
    case not(ResolvedNode)
    case all([ResolvedNode])
    case any([ResolvedNode])
    /// Nil equals nil; nil orders with nothing.
    case compare(ResolvedOperand, Order, ResolvedOperand, StringOptions)
    /// The operand equals one of the values, which are folded already; a null among them is nil.
    case member(ResolvedOperand, [SQLValue], StringOptions)
    case text(ResolvedOperand, StringOperator, ResolvedOperand, StringOptions)
    /// The object is one of these, or is missing and may be.
    case object(ResolvedSubject, [ManagedObjectID], orNil: Bool)
    case sameObject(ResolvedSubject, ResolvedSubject)
    /// The object's own entity has one of these names.
    case entity(ResolvedSubject, [String])
    /// The condition holds for an object of the to-many relationship; the condition is one scope further in.
    case exists(ResolvedSubject, ResolvedHop, ResolvedNode)

    /// How one operand stands to the other.
    enum Order: Hashable, Sendable {
        case equal
        case less
        case lessOrEqual
    }
}

/// What is compared.
indirect enum ResolvedOperand: Hashable, Sendable {
    case constant(SQLValue)
    case attribute(ResolvedSubject, AttributeDescription)
    /// The number of objects in a to-many relationship.
    case count(ResolvedSubject, ResolvedHop)
    /// The number of those for which a condition holds; it knows the first `depth` scopes, and the objects as one more.
    case countWhere(ResolvedSubject, ResolvedHop, depth: Int, ResolvedNode)
    /// What is made of a value of each of them; the value is one scope further in than their owner.
    case aggregate(PredicateAggregate, ResolvedSubject, ResolvedHop, ResolvedOperand)

    /// True for a number that may be the text `NaN`, which orders with nothing.
    var mayBeNaN: Bool {
        switch self {
        case .attribute(_, let attribute): attribute.type == .decimal
        case .aggregate(.minimum, _, _, let value), .aggregate(.maximum, _, _, let value): value.mayBeNaN
        case .constant, .count, .countWhere, .aggregate: false
        }
    }
}

/// An object, as seen from the objects that are asked for.
struct ResolvedSubject: Hashable, Sendable {
    /// 0 is the object asked for, 1 one of its to-many relationship, and so on.
    let scope: Int
    /// The entity of the scope's objects.
    let entity: String
    /// The to-one relationships that lead from there to the object.
    var hops: [ResolvedHop] = []

    /// The entity that the object is of, as far as the model says.
    var destination: String { hops.last?.relationship.destination ?? entity }
}

/// A relationship and the entity from which it is followed.
struct ResolvedHop: Hashable, Sendable {
    let entity: String
    let relationship: RelationshipDescription
}
