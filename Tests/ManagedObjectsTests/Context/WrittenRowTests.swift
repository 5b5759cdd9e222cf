import Foundation
import ManagedObjects
import StoreFormat
import Testing

/// A save builds the snapshots of inserted rows from their values, if they read back as written.
@Suite("Rows written by a save")
struct WrittenRowTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(name: "Plain", attributes: plain, relationships: [to("Target")]),
        EntityDescription(
            name: "Special",
            attributes: plain + [
                AttributeDescription(name: "decimal", type: .decimal),
                AttributeDescription(name: "picture", type: .binaryData, allowsExternalBinaryDataStorage: true),
            ],
            relationships: [to("Target")]
        ),
        EntityDescription(name: "Target", attributes: [AttributeDescription(name: "string", type: .string)]),
    ])

    private static let plain: [AttributeDescription] = [
        AttributeDescription(name: "integer", type: .integer32),
        AttributeDescription(name: "double", type: .double),
        AttributeDescription(name: "float", type: .float),
        AttributeDescription(name: "string", type: .string),
        AttributeDescription(name: "boolean", type: .boolean, defaultValue: .boolean(true)),
        AttributeDescription(name: "date", type: .date),
        AttributeDescription(name: "data", type: .binaryData),
        AttributeDescription(name: "uuid", type: .uuid),
        AttributeDescription(name: "uri", type: .uri),
        AttributeDescription(name: "transient", type: .string, isTransient: true),
    ]

    private static func to(_ destination: String) -> RelationshipDescription {
        RelationshipDescription(name: "target", destination: destination, inverse: nil)
    }

    private static let values: [[String: AttributeValue]] = [
        [:],
        [
            "integer": -7, "double": 0.1, "float": 0.1, "string": "a\u{0}b", "boolean": false,
            "date": .date(Date(timeIntervalSinceReferenceDate: 12)), "data": .data(Data([0, 1, 2])),
            "uuid": .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))), "uri": .uri("x:y"),
            "transient": "kept here only",
        ],
        ["double": .real(.nan), "float": .real(-0.0), "string": "", "data": .data(Data())],
        ["date": .date(Date(timeIntervalSinceReferenceDate: -0.25)), "double": .real(.infinity), "integer": 0],
    ]

    @Test("After a save, an object has the values that another coordinator reads", arguments: ["Plain", "Special"])
    func insertion(entity: String) throws {
        let stack = try SiblingStack(Self.model)
        let held = try stack.background.performAndWait { context in
            let target = try context.insertNewObject(forEntityName: "Target")
            let objects = try Self.values.map { values in
                let object = try context.insertNewObject(forEntityName: entity)
                for (name, value) in values { try object.setValue(value, forKey: name) }
                if !values.isEmpty { try object.setObject(target, forKey: "target") }
                return object
            }
            if entity == "Special" {
                try objects[1]
                    .setValue(AttributeValue.decimal(Decimal(string: "1.00000000000000000001") ?? 0), forKey: "decimal")
                try objects[2].setValue(.data(Data(repeating: 7, count: 200_000)), forKey: "picture")
            }
            try context.save()
            #expect(try objects[1].value(forKey: "transient") == "kept here only")
            return try objects.map(Self.content)
        }
        let fresh = PersistentStoreCoordinator(managedObjectModel: Self.model)
        try fresh.addPersistentStore(with: stack.container.persistentStoreDescriptions[0])
        let read = try ManagedObjectContext(.privateQueue, coordinator: fresh)
            .performAndWait { context in try context.all(entity).map(Self.content) }
        #expect(held == read)
        #expect(held.count == Self.values.count)
    }

    /// All stored values of an object.
    private static func content(_ object: ManagedObject) throws -> [AttributeValue] {
        let values = try object.entity.attributes.filter { !$0.isTransient }
            .map { try object.rawValue(forKey: $0.name) }
        let ids = [object.objectID] + (try object.objectIDs(forRelationshipNamed: "target"))
        return values + ids.map { .uri($0.uriRepresentation()) }
    }

    @Test("An object whose row is written twice in its inserting save is read again")
    func rewritten() throws {
        let stack = try SiblingStack(Library.model)
        try stack.background.performAndWait { context in
            // The new owner is inserted first, with the key that the passport's insertion completes.
            let author = try context.insertNewObject(forEntityName: "Author")
            try author.setValue("Ursula", forKey: "name")
            let passport = try context.insertNewObject(forEntityName: "Passport")
            try passport.setObject(author, forKey: "owner")
            try context.save()
            let other = try context.insertNewObject(forEntityName: "Author")
            try other.setValue("Octavia", forKey: "name")
            try other.setObject(passport, forKey: "passport")
            try context.save()
            #expect(try author.object(forKey: "passport") == nil)
            #expect(try passport.objectIDs(forRelationshipNamed: "owner") == [other.objectID])
            #expect(try other.objectIDs(forRelationshipNamed: "passport") == [passport.objectID])
        }
        let fresh = PersistentStoreCoordinator(managedObjectModel: Library.model)
        try fresh.addPersistentStore(with: stack.container.persistentStoreDescriptions[0])
        let owners = try ManagedObjectContext(.privateQueue, coordinator: fresh)
            .performAndWait { context in
                try context.all("Author").map { try $0.objectIDs(forRelationshipNamed: "passport").count }
            }
        #expect(owners == [0, 1])
    }
}
