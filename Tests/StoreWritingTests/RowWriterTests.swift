import Glibc
import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting
import Testing

@Suite("Writing objects as Core Data does")
struct RowWriterTests {
    private static func relationship(
        _ name: String,
        _ destination: String,
        _ inverse: String? = nil,
        many: Bool = false,
        ordered: Bool = false,
        _ rule: RelationshipDescription.DeleteRule = .nullify
    ) -> RelationshipDescription {
        RelationshipDescription(
            name: name,
            destination: destination,
            inverse: inverse,
            maxCount: many ? 0 : 1,
            isOrdered: ordered,
            deleteRule: rule
        )
    }

    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Person",
            attributes: [
                AttributeDescription(name: "name", type: .string, isOptional: false),
                AttributeDescription(name: "age", type: .integer16),
                AttributeDescription(name: "height", type: .double, isOptional: false),
                AttributeDescription(name: "photo", type: .binaryData, allowsExternalBinaryDataStorage: true),
            ],
            relationships: [
                relationship("passport", "Passport", "owner", .cascade),
                relationship("pets", "Pet", "keeper", many: true, ordered: true),
                relationship("clubs", "Club", "members", many: true),
                relationship("friends", "Person", "friends", many: true, .noAction),
                relationship("debts", "Debt", "debtor", many: true, .deny),
            ]
        ),
        EntityDescription(name: "Child", superentity: "Person"),
        EntityDescription(name: "Passport", relationships: [relationship("owner", "Person", "passport")]),
        EntityDescription(name: "Pet", relationships: [relationship("keeper", "Person", "pets")]),
        EntityDescription(name: "Club", relationships: [relationship("members", "Person", "clubs", many: true)]),
        EntityDescription(name: "Debt", relationships: [relationship("debtor", "Person", "debts")]),
        EntityDescription(name: "Idea", isAbstract: true),
    ])

    /// An open store with a writer, in a folder that is removed with it.
    private final class Store {
        let folder: TemporaryDirectory
        let connection: StoreConnection
        let writer: RowWriter

        init() throws {
            folder = try TemporaryDirectory(prefix: "store-writing-tests")
            let location = StoreLocation(folder: folder.directory.path, name: "Store.sqlite")
            let layout = NewStoreFile.Layout(journalMode: .wal)
            connection = try NewStoreFile.create(location, in: folder.directory, layout: layout)
            let builder = try StoreBuilder(RowWriterTests.model, uuid: "2E3E5F3E-1DB3-4B0E-8A6B-0F0A3D0C9A11")
            try builder.writeSchema(to: connection)
            let external = ExternalDataWriter(
                location,
                in: folder.directory,
                identifiers: SeededIdentifiers(seed: "RowWriterTests")
            )
            writer = try RowWriter(connection, layout: builder.layout(of: connection), external: external)
        }

        deinit { folder.remove() }

        @discardableResult
        func insert(_ entity: String, _ values: [String: SQLValue] = [:]) throws -> ObjectKey {
            let key = ObjectKey(entity: entity, primaryKey: try writer.allocateKeys(for: entity, count: 1))
            try writer.insert(
                key,
                entity == "Person" || entity == "Child"
                    ? ["name": .text("N"), "height": .real(1.5)].merging(values) { $1 } : values
            )
            return key
        }

        func text(_ sql: String) throws -> String? {
            try connection.value(sql)?.text
        }
    }

    @Test("Keys are assigned per table, and only the root's entry records the greatest one")
    func keys() throws {
        let store = try Store()
        try store.insert("Person")
        try store.insert("Child")
        #expect(try store.writer.allocateKeys(for: "Child", count: 10) == 3)
        #expect(
            try store.text("SELECT group_concat(Z_PK || ':' || Z_ENT || ':' || Z_OPT) FROM ZPERSON") == "1:5:1,2:6:1"
        )
        #expect(
            try store.text("SELECT group_concat(Z_MAX) FROM Z_PRIMARYKEY WHERE Z_NAME IN ('Person', 'Child')") == "12,0"
        )
    }

    @Test("A to-one stores its destination's entity, and an ordered inverse assigns the order key")
    func ordered() throws {
        let store = try Store()
        let (person, child) = (try store.insert("Person"), try store.insert("Child"))
        let pets = try (0..<3).map { _ in try store.insert("Pet") }
        for pet in pets { try store.writer.connect(person, "pets", to: pet) }
        try store.writer.connect(pets[0], "keeper", to: child)
        let rows = "SELECT group_concat(ZKEEPER || ':' || Z5_KEEPER || ':' || Z_FOK_KEEPER) FROM ZPET"
        #expect(try store.text(rows) == "2:6:1024,1:5:2048,1:5:3072")
    }

    @Test("Setting a one-to-one updates both sides and disconnects the former partner")
    func oneToOne() throws {
        let store = try Store()
        let (ann, bob) = (try store.insert("Person"), try store.insert("Person"))
        let passport = try store.insert("Passport")
        try store.writer.connect(ann, "passport", to: passport)
        try store.writer.connect(passport, "owner", to: bob)
        #expect(try store.text("SELECT group_concat(ifnull(ZPASSPORT, '-')) FROM ZPERSON") == "-,1")
        #expect(try store.connection.value("SELECT ZOWNER FROM ZPASSPORT") == .integer(2))
        #expect(try store.connection.value("SELECT Z5_OWNER FROM ZPASSPORT") == .integer(5))
    }

    @Test("A version rises once per save, and not in the save that inserts")
    func versions() throws {
        let store = try Store()
        let person = try store.insert("Person")
        try store.writer.update(person, ["age": .integer(3)])
        #expect(try store.connection.value("SELECT Z_OPT FROM ZPERSON") == .integer(1))
        store.writer.beginSave()
        try store.writer.update(person, ["age": .integer(4)])
        try store.writer.connect(person, "clubs", to: store.insert("Club"))
        #expect(try store.connection.value("SELECT Z_OPT FROM ZPERSON") == .integer(2))
        #expect(store.writer.changes.updated == [person])
        #expect(store.writer.changes.changedSlots(of: person).contains(.property("age")))
        #expect(store.writer.changes.changedSlots(of: person).contains(.manyToMany))
    }

    @Test("Removing a pair of a many-to-many changes both objects, from either side", arguments: [false, true])
    func removedPair(fromClub: Bool) throws {
        let store = try Store()
        let (person, club) = (try store.insert("Person"), try store.insert("Club"))
        try store.writer.connect(person, "clubs", to: club)
        store.writer.beginSave()
        if fromClub {
            try store.writer.disconnect(club, "members", from: person)
        } else {
            try store.writer.disconnect(person, "clubs", from: club)
        }
        #expect(try store.connection.value("SELECT count(*) FROM Z_1MEMBERS") == .integer(0))
        #expect(Set(store.writer.changes.updated) == [person, club])
        for object in [person, club] {
            #expect(try store.writer.version(of: object) == 2)
            #expect(store.writer.changes.changedSlots(of: object) == [.manyToMany])
        }
    }

    @Test("Deleting nullifies, cascades and leaves no join row")
    func deletion() throws {
        let store = try Store()
        let person = try store.insert("Person")
        try store.writer.connect(person, "passport", to: store.insert("Passport"))
        try store.writer.connect(person, "pets", to: store.insert("Pet"))
        try store.writer.connect(store.insert("Club"), "members", to: person)
        store.writer.beginSave()
        try store.writer.delete(person)
        for table in ["ZPERSON", "ZPASSPORT", "Z_1MEMBERS"] {
            #expect(try store.connection.value("SELECT count(*) FROM \(table)") == .integer(0))
        }
        #expect(
            try store.connection.value(
                "SELECT count(*) FROM ZPET WHERE coalesce(ZKEEPER, Z5_KEEPER, Z_FOK_KEEPER) IS NULL"
            ) == .integer(1)
        )
        #expect(store.writer.changes.deleted.map(\.entity) == ["Person", "Passport"])
        #expect(store.writer.changes.updated.map(\.entity).sorted() == ["Club", "Pet"])
    }

    @Test("A pair of a symmetric relationship is deleted with either of its objects")
    func reflexive() throws {
        let store = try Store()
        let people = try (0..<3).map { _ in try store.insert("Person") }
        try store.writer.connect(people[0], "friends", to: people[1])
        try store.writer.connect(people[2], "friends", to: people[0])
        try store.writer.connect(people[1], "friends", to: people[2])
        store.writer.beginSave()
        try store.writer.delete(people[0])
        #expect(try store.text("SELECT group_concat(Z_5FRIENDS || ':' || REFLEXIVE) FROM Z_5FRIENDS") == "2:3")
        #expect(Set(store.writer.changes.updated) == [people[1], people[2]])
    }

    @Test("A deny rule refuses the deletion")
    func denied() throws {
        let store = try Store()
        let person = try store.insert("Person")
        try store.writer.connect(store.insert("Debt"), "debtor", to: person)
        let error = #expect(throws: StoreError.self) { try store.writer.delete(person) }
        #expect(error?.message == "Person.debts denies the deletion of its owner")
    }

    @Test("An object inserted and deleted in one save is in none of its changes")
    func netChanges() throws {
        let store = try Store()
        let club = try store.insert("Club")
        try store.writer.delete(club)
        #expect(store.writer.changes.inserted.isEmpty)
        #expect(store.writer.changes.deleted.isEmpty)
    }

    @Test("A value of 100 KiB stays in its row, one byte more goes to a file, and is abandoned when replaced")
    func externalData() throws {
        let store = try Store()
        let large = [UInt8](repeating: 7, count: ExternalDataWriter.threshold + 1)
        let inline = try store.insert("Person", ["photo": .blob(Array(large.dropLast()))])
        let outside = try store.insert("Person", ["photo": .blob(large)])
        #expect(
            try store.text("SELECT group_concat(length(ZPHOTO) || ':' || hex(substr(ZPHOTO, 1, 1))) FROM ZPERSON")
                == "102401:01,38:02"
        )
        let folder = try store.folder.directory.openDirectory(".Store_SUPPORT").openDirectory("_EXTERNAL_DATA")
        let name = try #require(try folder.entries().first)
        #expect(try folder.contents(of: name, limit: 1 << 20) == large)
        try store.writer.update(outside, ["photo": .null])
        try store.writer.update(inline, ["photo": .null])
        #expect(store.writer.abandonedFiles == [name])
    }

    @Test(
        "External files and folders get the store's group, and folders keep the set-group-ID bit",
        arguments: [0o2770, 0o770] as [UInt32]
    )
    func externalDataRights(mode: UInt32) throws {
        guard geteuid() == 0 else { return }
        let store = try Store()
        let folder = store.folder.directory
        try folder.setMode(mode)
        #expect(chown(folder.path + "/Store.sqlite", 0, 61_234) == 0)
        try store.insert("Person", ["photo": .blob([UInt8](repeating: 7, count: ExternalDataWriter.threshold + 1))])
        let support = try folder.openDirectory(".Store_SUPPORT")
        let external = try support.openDirectory("_EXTERNAL_DATA")
        let name = try #require(try external.entries().first)
        for status in try [support.status(), external.status()] {
            #expect(status.group == 61_234)
            #expect(status.mode & 0o2000 == mode & 0o2000)
        }
        #expect(try external.status(of: name)?.group == 61_234)
    }

    struct WrongValue: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let entity: String
        let values: [String: SQLValue]
        let words: String
    }

    static let wrongValues = [
        WrongValue(
            testDescription: "an abstract entity",
            entity: "Idea",
            values: [:],
            words: "Idea is abstract and cannot have objects"
        ),
        WrongValue(
            testDescription: "a required value that is absent",
            entity: "Person",
            values: ["name": .null],
            words: "Person.name must have a value"
        ),
        WrongValue(
            testDescription: "a required number that is NaN",
            entity: "Person",
            values: ["height": .real(.nan)],
            words: "Person.height must have a value"
        ),
        WrongValue(
            testDescription: "a number beyond 16 bits",
            entity: "Person",
            values: ["age": .integer(32_768)],
            words: "the value does not fit the type of Person.age"
        ),
        WrongValue(
            testDescription: "an unknown attribute",
            entity: "Child",
            values: ["weight": .integer(1)],
            words: "Child has no attribute weight"
        ),
    ]

    @Test("A value that does not fit the model is rejected, and the error omits it", arguments: wrongValues)
    func refused(_ wrong: WrongValue) throws {
        let store = try Store()
        let error = #expect(throws: StoreError.self) { try store.insert(wrong.entity, wrong.values) }
        #expect(error?.message == wrong.words)
        #expect(error?.code == .incompatible)
    }

    @Test("The bitmap of changed properties has one bit per slot, the first being the highest")
    func bitmap() throws {
        let slots = try Store().writer.entity("Person").historySlots
        #expect(
            slots.slots == [
                .property("passport"), .property("age"), .property("height"), .property("name"), .property("photo"),
                .oneToMany, .oneToMany, .manyToMany, .manyToMany,
            ]
        )
        #expect(slots.bitmap(setting: [.property("passport"), .manyToMany]) == [0x81, 0x80])
        #expect(slots.bitmap(setting: []) == [0, 0])
        #expect(slots.bitmap(of: ["age", "pets"]) == [0x46, 0])
    }
}
