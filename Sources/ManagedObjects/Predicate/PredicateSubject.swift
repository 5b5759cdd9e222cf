package import StoreFormat

/// An object that a predicate can be evaluated for.
///
/// Callers pass only names of properties of the object's entity, and of the right kind.
package protocol PredicateSubject {
    var objectID: ManagedObjectID { get }
    /// The position among unsaved objects.
    var predicateOrder: Int { get }
    /// The name of the object's concrete entity; nil when its row is missing.
    func predicateEntityName() throws -> String?
    /// The permanent ID of the object with a temporary ID, if this object's context knows it.
    func predicateID(since temporary: ManagedObjectID) -> ManagedObjectID?
    /// The value of an attribute.
    func predicateValue(of attribute: String) throws -> AttributeValue
    /// The ID of the destination of a to-one relationship.
    func predicateDestinationID(of relationship: String) throws -> ManagedObjectID?
    /// The destination of a to-one relationship; without values when its row is missing.
    func predicateDestination(of relationship: String) throws -> (any PredicateSubject)?
    /// The existing destinations of a to-many relationship.
    func predicateDestinations(of relationship: String) throws -> [any PredicateSubject]
}

extension PredicateSubject {
    package var predicateOrder: Int { 0 }
    package func predicateID(since temporary: ManagedObjectID) -> ManagedObjectID? { nil }
}
