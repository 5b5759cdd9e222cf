package import StoreFormat

extension ManagedObject: PredicateSubject {
    package var predicateOrder: Int { order }

    package func predicateEntityName() throws -> String? {
        // Only the row determines the concrete entity, and whether the object exists.
        try graph?.fire(self)
        return base == nil && !isInserted ? nil : shape.name
    }

    package func predicateID(since temporary: ManagedObjectID) -> ManagedObjectID? { graph?.permanentIDs[temporary] }

    package func predicateValue(of attribute: String) throws -> AttributeValue { try rawValue(forKey: attribute) }

    package func predicateDestinationID(of relationship: String) throws -> ManagedObjectID? {
        try objectIDs(forRelationshipNamed: relationship).first
    }

    package func predicateDestination(of relationship: String) throws -> (any PredicateSubject)? {
        try object(forKey: relationship)
    }

    package func predicateDestinations(of relationship: String) throws -> [any PredicateSubject] {
        try objects(forKey: relationship)
    }
}
