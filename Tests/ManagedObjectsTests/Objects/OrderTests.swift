import ManagedObjects
import StoreAccess
import StoreFormat
import Testing

@Suite("Ordered relationships")
struct OrderTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Shelf",
            relationships: [
                RelationshipDescription(
                    name: "books",
                    destination: "Volume",
                    inverse: "shelf",
                    maxCount: 0,
                    isOrdered: true
                ),
                RelationshipDescription(
                    name: "labels",
                    destination: "Label",
                    inverse: "shelves",
                    maxCount: 0,
                    isOrdered: true
                ),
                RelationshipDescription(
                    name: "neighbours",
                    destination: "Shelf",
                    inverse: "neighbours",
                    maxCount: 0,
                    isOrdered: true
                ),
            ]
        ),
        EntityDescription(
            name: "Volume",
            relationships: [RelationshipDescription(name: "shelf", destination: "Shelf", inverse: "books")]
        ),
        EntityDescription(
            name: "Label",
            relationships: [
                RelationshipDescription(name: "shelves", destination: "Shelf", inverse: "labels", maxCount: 0)
            ]
        ),
    ])

    private let stack: SiblingStack

    init() throws { stack = try SiblingStack(Self.model, tracksHistory: true) }

    /// Saves a shelf with three members, calls `body` with them and another shelf, and checks the order.
    private func check(
        _ key: String,
        _ order: [Int],
        after body: @Sendable (ManagedObject, [ManagedObject], _ other: ManagedObject) throws -> Void
    ) throws {
        let expected = try stack.main.performAndWait { context in
            let shelf = try context.insertNewObject(forEntityName: "Shelf")
            let entity = key == "books" ? "Volume" : "Label"
            let members = try (0..<3).map { _ in try context.insertNewObject(forEntityName: entity) }
            try shelf.setObjects(members, forKey: key)
            let other = try context.insertNewObject(forEntityName: "Shelf")
            try context.save()
            try body(shelf, members, other)
            let expected = order.map { members[$0] }
            #expect(try shelf.objects(forKey: key) == expected, "before the save")
            try context.save()
            #expect(try shelf.objects(forKey: key) == expected, "after the save")
            return [shelf.objectID] + expected.map(\.objectID)
        }
        let fresh = PersistentStoreCoordinator()
        try fresh.addPersistentStore(with: stack.container.persistentStoreDescriptions[0])
        try ManagedObjectContext(.privateQueue, coordinator: fresh)
            .performAndWait { context in
                let shelf = try context.existingObject(with: expected[0])
                #expect(try shelf.objectIDs(forRelationshipNamed: key) == Array(expected.dropFirst()), "in the store")
            }
    }

    @Test("A member removed and added again becomes the last one", arguments: ["books", "labels"])
    func addedAgain(_ key: String) throws {
        try check(key, [1, 2, 0]) { shelf, members, _ in
            try shelf.remove(members[0], fromKey: key)
            try shelf.add(members[0], toKey: key)
        }
    }

    @Test("A reordered member that is removed and added again becomes the last one", arguments: ["books", "labels"])
    func addedAgainAfterArranging(_ key: String) throws {
        try check(key, [1, 0, 2]) { shelf, members, _ in
            try shelf.setObjects([members[2], members[1], members[0]], forKey: key)
            try shelf.remove(members[2], fromKey: key)
            try shelf.add(members[2], toKey: key)
        }
    }

    @Test("A member moved to another owner and back becomes the last one", arguments: [true, false])
    func thereAndBack(_ throughToOne: Bool) throws {
        try check("books", [0, 2, 1]) { shelf, members, elsewhere in
            if throughToOne {
                try members[1].setObject(elsewhere, forKey: "shelf")
                try members[1].setObject(shelf, forKey: "shelf")
            } else {
                try elsewhere.add(members[1], toKey: "books")
                try shelf.add(members[1], toKey: "books")
            }
        }
    }

    @Test("A duplicate in a new order is kept once, at its first position", arguments: ["books", "labels"])
    func duplicate(_ key: String) throws {
        try check(key, [2, 0, 1]) { shelf, members, _ in
            try shelf.setObjects([members[2], members[0], members[2], members[1], members[0]], forKey: key)
        }
    }

    @Test("A member removed and added again to an unordered relationship is no change")
    func unordered() throws {
        try stack.main.performAndWait { context in
            let (label, shelf) = (
                try context.insertNewObject(forEntityName: "Label"), try context.insertNewObject(forEntityName: "Shelf")
            )
            try label.add(shelf, toKey: "shelves")
            try context.save()
            try label.remove(shelf, fromKey: "shelves")
            try label.add(shelf, toKey: "shelves")
            #expect(!label.hasPersistentChangedValues)
        }
    }

    @Test("A reflexive ordered relationship is saved in any order and visible from both ends")
    func reflexive() throws {
        let ids = try stack.main.performAndWait { context in
            let shelves = try (0..<4).map { _ in try context.insertNewObject(forEntityName: "Shelf") }
            try shelves[0].setObjects(Array(shelves[1...]), forKey: "neighbours")
            try context.save()
            try shelves[0].setObjects(shelves[1...].reversed(), forKey: "neighbours")
            try shelves[0].remove(shelves[2], fromKey: "neighbours")
            try context.save()
            return shelves.map(\.objectID)
        }
        let fresh = ManagedObjectContext(.privateQueue, coordinator: stack.container.persistentStoreCoordinator)
        try fresh.performAndWait { context in
            let members = try ids.map { try context.object(with: $0).objectIDs(forRelationshipNamed: "neighbours") }
            #expect(members.map(Set.init) == [[ids[1], ids[3]], [ids[0]], [], [ids[0]]])
        }
    }

    @Test("A pair stored in both directions is read once")
    func mirrored() throws {
        let ids = try stack.main.performAndWait { context in
            let shelves = try (0..<2).map { _ in try context.insertNewObject(forEntityName: "Shelf") }
            try shelves[0].add(shelves[1], toKey: "neighbours")
            try context.save()
            return shelves.map(\.objectID)
        }
        let connection = try StoreConnection(stack.location, access: .liveWriting)
        let layout = try #require(try StoreLayout(reading: connection))
        guard
            case .manyToMany(let table, let side, let other)? =
                layout.entities["Shelf"]?.relationship("neighbours")?.storage
        else {
            Issue.record("no join table")
            return
        }
        let (name, one, two) = (SQLName.quoted(table), SQLName.quoted(side.column), SQLName.quoted(other.column))
        try connection.execute("INSERT INTO \(name) (\(one), \(two)) SELECT \(two), \(one) FROM \(name)")
        let fresh = ManagedObjectContext(.privateQueue, coordinator: stack.container.persistentStoreCoordinator)
        try fresh.performAndWait { context in
            for (here, there) in [(0, 1), (1, 0)] {
                let shelf = try context.object(with: ids[here])
                #expect(try shelf.objectIDs(forRelationshipNamed: "neighbours") == [ids[there]])
            }
        }
    }
}
