package import StoreFormat

/// An object that a predicate can be evaluated for.
///
/// The names that are asked for are properties of the object's entity, of the kind that is asked for.
package protocol PredicateSubject {
    var objectID: ManagedObjectID { get }
    /// The place among the objects that are not saved yet.
    var predicateOrder: Int { get }
    /// The name of the object's own entity; nil when its row is missing.
    func predicateEntityName() throws -> String?
    /// The permanent id of the object that had a temporary one, as far as this object's context knows.
    func predicateID(since temporary: ManagedObjectID) -> ManagedObjectID?
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
    package func predicateID(since temporary: ManagedObjectID) -> ManagedObjectID? { nil }
}
