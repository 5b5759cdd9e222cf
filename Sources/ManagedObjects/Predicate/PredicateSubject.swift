package import StoreFormat

/// An object that a predicate can be evaluated for.
///
/// The names that are asked for are properties of the object's entity, of the kind that is asked for.
package protocol PredicateSubject {
    var objectID: ManagedObjectID { get }
    /// The place among the objects that are not saved yet.
    var predicateOrder: Int { get }
    /// The value of an attribute.
    func predicateValue(of attribute: String) throws -> AttributeValue
    /// The identity of the destination of a to-one relationship.
    func predicateDestinationID(of relationship: String) throws -> ManagedObjectID?
    /// The destination of a to-one relationship; one whose row is missing has no values.
    func predicateDestination(of relationship: String) throws -> (any PredicateSubject)?
    /// The destinations of a to-many relationship that exist.
    func predicateDestinations(of relationship: String) throws -> [any PredicateSubject]
}

extension PredicateSubject {
    package var predicateOrder: Int { 0 }
}
