import ManagedObjects
import StoreFormat

/// All values of an object, comparable outside its context.
struct ObjectReading: Equatable, Sendable {
    let entity: String
    let attributes: [String: AttributeValue]
    let toOnes: [String: [ManagedObjectID]]
    let toManys: [String: [ManagedObjectID]]

    init(_ object: ManagedObject) throws {
        entity = object.entity.name
        var (attributes, toOnes, toManys):
            ([String: AttributeValue], [String: [ManagedObjectID]], [String: [ManagedObjectID]])
        (attributes, toOnes, toManys) = ([:], [:], [:])
        for attribute in object.shape.attributes where !attribute.isTransient {
            attributes[attribute.name] = try object.value(forKey: attribute.name)
        }
        for relationship in object.shape.toOnes where !relationship.isTransient {
            toOnes[relationship.name] = try object.objectIDs(forRelationshipNamed: relationship.name)
        }
        for relationship in object.shape.toManys where !relationship.isTransient {
            let ids = try object.objectIDs(forRelationshipNamed: relationship.name)
            toManys[relationship.name] = relationship.isOrdered ? ids : ids.sorted()
        }
        (self.attributes, self.toOnes, self.toManys) = (attributes, toOnes, toManys)
    }
}
