import ManagedObjects
import StoreFormat

/// The content of a context as a value that can be compared with another context's.
struct ProbePicture: Sendable, Equatable {
    /// One object's values and destinations.
    struct Object: Sendable, Equatable {
        let attributes: [String: AttributeValue]
        let destinations: [String: [ManagedObjectID]]

        init(_ object: ManagedObject) throws {
            var (attributes, destinations): ([String: AttributeValue], [String: [ManagedObjectID]]) = ([:], [:])
            for attribute in object.shape.attributes where !attribute.isTransient {
                attributes[attribute.name] = try object.rawValue(forKey: attribute.name)
            }
            for relationship in object.shape.toOnes + object.shape.toManys where !relationship.isTransient {
                let ids = try object.objectIDs(forRelationshipNamed: relationship.name)
                destinations[relationship.name] = relationship.isOrdered ? ids : ids.sorted()
            }
            (self.attributes, self.destinations) = (attributes, destinations)
        }

        /// The names of the properties that differ, in byte order.
        func differences(from other: Object) -> [String] {
            let attributes = attributes.filter { other.attributes[$0.key] != $0.value }.keys
            let relationships = destinations.filter { other.destinations[$0.key] != $0.value }.keys
            return (Array(attributes) + Array(relationships)).sorted(by: ManagedObjectModel.inByteOrder)
        }
    }

    /// The objects of each list in their order, by the list's name.
    private(set) var lists: [String: [ManagedObjectID]] = [:]
    private(set) var objects: [ManagedObjectID: Object] = [:]

    /// Creates the picture of these lists and their objects.
    init(_ lists: [String: [ManagedObject]]) throws {
        for (name, list) in lists {
            self.lists[name] = list.map(\.objectID)
            for object in list where objects[object.objectID] == nil { objects[object.objectID] = try Object(object) }
        }
    }
}
