import StoreAccess
import StoreFormat
import StoreWriting
import Testing

@Suite("Relationships and unique values while writing objects")
struct RowWriterRelationshipTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Album",
            attributes: [AttributeDescription(name: "code", type: .string)],
            relationships: [
                RelationshipDescription(name: "cover", destination: "Photo"),
                RelationshipDescription(name: "photos", destination: "Photo", maxCount: 0, isOrdered: true),
            ],
            uniquenessConstraints: [["code"]]
        ),
        EntityDescription(name: "Series", superentity: "Album"),
        EntityDescription(
            name: "Person",
            relationships: [
                RelationshipDescription(name: "works", destination: "Photo", inverse: "author", maxCount: 0)
            ]
        ),
        EntityDescription(
            name: "Photo",
            relationships: [RelationshipDescription(name: "author", destination: "Person", inverse: "works")]
        ),
    ])

    private func new(_ entity: String, in store: NewStore) throws -> ObjectKey {
        ObjectKey(entity: entity, primaryKey: try store.writer.allocateKeys(for: entity, count: 1))
    }

    @Test("An ordered to-many without an inverse keeps the order in which its destinations were added")
    func orderWithoutInverse() throws {
        let store = try NewStore(Self.model)
        let album = try store.insert("Album")
        let photos = try (0..<3).map { _ in try store.insert("Photo") }
        let added = [photos[2], photos[0], photos[1]]
        try store.save { for photo in added { try store.writer.connect(album, "photos", to: photo) } }
        #expect(try store.writer.destinations(of: album, "photos") == added)
        let orders = "SELECT group_concat(o) FROM (SELECT Z_FOK_1PHOTOS AS o FROM ZPHOTO ORDER BY Z_PK)"
        #expect(try store.connection.value(orders) == .text("2048,3072,1024"))
    }

    @Test("A column for the entity of the owner, where a table has one, is set and emptied with the key")
    func entityWithoutInverse() throws {
        let store = try NewStore(Self.model, preparing: "ALTER TABLE ZPHOTO ADD COLUMN Z1_1PHOTOS INTEGER")
        let (series, photo) = (try store.insert("Series"), try store.insert("Photo"))
        let values = ["Z1PHOTOS", "Z1_1PHOTOS", "Z_FOK_1PHOTOS"].map { "ifnull(\($0), '-')" }
        let columns = "SELECT \(values.joined(separator: " || ' ' || ")) FROM ZPHOTO"
        try store.save { try store.writer.connect(series, "photos", to: photo) }
        #expect(try store.connection.value(columns) == .text("1 2 1024"))
        try store.save { try store.writer.disconnect(series, "photos", from: photo) }
        #expect(try store.connection.value(columns) == .text("- - -"))
    }

    @Test("A new object cannot refer to an object of another entity than the model permits")
    func wrongDestination() throws {
        let store = try NewStore(Self.model)
        let person = try store.insert("Person")
        let error = #expect(throws: StoreError.self) {
            try store.save { try store.writer.insert(new("Album", in: store), [:], toOne: ["cover": person]) }
        }
        #expect(error?.message == "Album.cover refers to Photo, not Person")
        #expect(try store.connection.value("SELECT count(*) FROM ZALBUM") == .integer(0))
    }

    @Test("An object counts as new only in the save that restores it")
    func restoredOnce() throws {
        let store = try NewStore(Self.model)
        let (person, photo) = (try store.insert("Person"), try store.insert("Photo"))
        try store.save { try store.writer.delete(person) }
        try store.save {
            store.writer.announce([person])
            try store.writer.connect(photo, "author", to: person)
            try store.writer.insert(person, [:], version: 2)
        }
        let result = try store.save { try store.writer.set(photo, "author", to: nil) }
        #expect(Set(result.changes.updated) == [person, photo])
        #expect(try store.writer.version(of: person) == 3)
    }

    @Test("A new object whose row was written again is distinguished from one that was inserted and left")
    func rewritten() throws {
        let store = try NewStore(Self.model)
        let person = try store.insert("Person")
        var photos: [ObjectKey] = []
        let result = try store.save {
            for _ in 0..<2 {
                photos.append(try new("Photo", in: store))
                try store.writer.insert(photos[photos.count - 1], [:])
            }
            try store.writer.connect(photos[0], "author", to: person)
        }
        #expect((photos + [person]).map(result.changes.hasRewritten) == [true, false, false])
    }

    @Test("Two objects exchange unique values in one save, after one of the values is set aside")
    func exchangedValues() throws {
        let store = try NewStore(Self.model)
        let albums = try ["a", "b"].map { try store.insert("Album", ["code": .text($0)]) }
        #expect(throws: UniquenessConflict.self) {
            try store.save { try store.writer.update(albums[1], ["code": .text("a")]) }
        }
        try store.save {
            #expect(try store.writer.setAside("code", of: albums[0]) == .text("a"))
            try store.writer.update(albums[1], ["code": .text("a")])
            try store.writer.putBack("code", of: albums[0], .text("b"))
        }
        let codes = "SELECT group_concat(c) FROM (SELECT ZCODE || Z_OPT AS c FROM ZALBUM ORDER BY Z_PK)"
        #expect(try store.connection.value(codes) == .text("b2,a2"))
    }

    @Test("An entity that the model lacks is distinguished from one whose table the store lacks")
    func missingEntities() throws {
        let store = try NewStore(Self.model, preparing: "DROP TABLE ZPERSON")
        for (entity, words) in [
            ("Painting", "the model has no entity Painting"),
            ("Person", "the store has no table for the entity Person"),
        ] {
            let error = #expect(throws: StoreError.self) { try store.writer.entity(entity) }
            #expect(error?.message == words)
        }
    }
}
