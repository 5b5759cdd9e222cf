import ChangeMerging
import SafeFiles
import StoreAccess
import StoreWriting
import Testing

@Suite("Refused merges of Core Data stores")
struct MergeRefusalTests {
    /// Stores that cannot be merged, and the expected refusals.
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var tracksHistory = true
        var hasBase = true
        var settings = MergeSettings()
        let refusals: [MergeRefusal]
        let prepare: @Sendable (MergeTriple) throws -> Void
    }

    private static func rename(_ store: MergeStore, _ uuid: String) throws {
        try store.connection.execute("UPDATE Z_METADATA SET Z_UUID = '\(uuid)'")
    }

    private static func edit(_ store: MergeStore, _ number: Int64 = 1) throws {
        try store.save { try $0.update(StoreMergeTests.habit(number), ["goal": .integer(number)]) }
    }

    /// Creates two objects with one key, so that the old side's needs another.
    private static func collide(_ triple: MergeTriple) throws {
        for name in ["old", "shared"] { try triple.store(name).insert("Category", ["title": .text(name)]) }
    }

    private static func mirror(_ triple: MergeTriple, _ sql: String, in names: [String]) throws {
        for name in ["base", "old", "shared"] {
            try triple.store(name).connection
                .execute(
                    "CREATE TABLE ANSCKRECORDMETADATA (Z_PK INTEGER PRIMARY KEY, ZENTITYID INTEGER, ZENTITYPK INTEGER)"
                )
        }
        for name in names { try triple.store(name).connection.execute(sql) }
    }

    static let cases: [Case] = [
        Case(testDescription: "stores of different origin", refusals: [.unrelated]) {
            try rename($0.store("old"), "0E3E5F3E-1DB3-4B0E-8A6B-0F0A3D0C9A11")
            try edit($0.store("old"))
        },
        Case(testDescription: "a base of another origin", refusals: [.unrelated]) {
            try rename($0.store("base"), "0E3E5F3E-1DB3-4B0E-8A6B-0F0A3D0C9A11")
            try edit($0.store("old"))
        },
        Case(
            testDescription: "unrelated stores without a base",
            hasBase: false,
            refusals: [.unidentifiedEntities(["Category"])]
        ) {
            try rename($0.store("old"), "0E3E5F3E-1DB3-4B0E-8A6B-0F0A3D0C9A11")
            for name in ["old", "shared"] {
                try $0.store(name).connection.execute("DELETE FROM ZHABIT")
            }
        },
        Case(
            testDescription: "copies of one store without a base",
            hasBase: false,
            refusals: [.needsBase(entities: ["Category"])]
        ) {
            try edit($0.store("old"))
        },
        Case(
            testDescription: "a base that is newer than both stores",
            refusals: [.baseIsNewer(.old), .baseIsNewer(.shared)]
        ) { try edit($0.store("base")) },
        Case(
            testDescription: "a base that is newer, without history",
            tracksHistory: false,
            refusals: [.baseIsNewer(.old)]
        ) {
            try $0.store("base").insert("Habit")
            try $0.store("shared").insert("Habit")
        },
        Case(
            testDescription: "a base that diverged, without history",
            tracksHistory: false,
            refusals: [.notTheBase(.old), .notTheBase(.shared)]
        ) { triple in
            for _ in 0..<2 { try edit(triple.store("base")) }
            try edit(triple.store("old"), 2)
        },
        Case(testDescription: "a base that diverged", refusals: [.notTheBase(.old), .notTheBase(.shared)]) {
            for name in ["base", "old", "shared"] { try edit($0.store(name)) }
        },
        Case(testDescription: "rows of the cloud's mirror on the old side", refusals: [.cloudMirrorInBothPlaces]) {
            try mirror($0, "INSERT INTO ANSCKRECORDMETADATA VALUES (1, 1, 1)", in: ["old"])
            try edit($0.store("old"))
        },
        Case(
            testDescription: "an object of the mirror under a key in use",
            refusals: [.cloudRecordNeedsAnotherKey(entity: "Category")]
        ) {
            try mirror(
                $0,
                "INSERT INTO ANSCKRECORDMETADATA VALUES (1, 1, 2)",
                in: ["base", "old", "shared"]
            )
            try collide($0)
        },
        Case(
            testDescription: "a foreign key from outside the model",
            refusals: [.namedOutsideTheModel(table: "ZCATEGORY", by: "APPENDIX")]
        ) {
            try $0.store("old").connection
                .execute(
                    "CREATE TABLE APPENDIX (OWNER INTEGER REFERENCES ZCATEGORY (Z_PK))"
                )
            try collide($0)
        },
        Case(
            testDescription: "a view from outside the model",
            refusals: [.namedOutsideTheModel(table: "ZCATEGORY", by: "TITLES")]
        ) {
            try $0.store("old").connection.execute("CREATE VIEW TITLES AS SELECT Z_PK, ZTITLE FROM ZCATEGORY")
            try collide($0)
        },
        Case(
            testDescription: "a trigger on a table outside the model",
            refusals: [.namedOutsideTheModel(table: "ZCATEGORY", by: "TIDY")]
        ) {
            try $0.store("old").connection
                .execute(
                    "CREATE TABLE APPENDIX (OWNER INTEGER); CREATE TRIGGER TIDY AFTER DELETE ON APPENDIX "
                        + "BEGIN DELETE FROM ZCATEGORY WHERE Z_PK = OLD.OWNER; END"
                )
            try collide($0)
        },
        Case(
            testDescription: "conflicts under the policy error",
            settings: MergeSettings(policy: .error),
            refusals: [.conflicts(1)]
        ) {
            try edit($0.store("old"))
            try $0.store("shared").save { try $0.update(StoreMergeTests.habit(1), ["goal": .integer(9)]) }
        },
    ]

    @Test("Incompatible stores are refused with the reason, and nothing is written", arguments: cases)
    func refusal(_ item: Case) throws {
        let triple = try StoreMergeTests.triple(tracksHistory: item.tracksHistory)
        try item.prepare(triple)
        let shared = try triple.store("shared").connection
        let before = try StoreDigest(of: shared, externalData: nil)
        var places = try ["base", "old", "shared"].map { try triple.store($0).place() }
        let base = places.removeFirst()
        let merge = try StoreMerger(
            base: item.hasBase ? base : nil,
            old: places[0],
            shared: places[1],
            settings: item.settings
        )
        .plan()
        #expect(merge.summary.refusals == item.refusals)
        #expect { _ = try merge.carryOut(MergeRun(epoch: "1", deadline: Deadline(after: .seconds(60)))) } throws: {
            ($0 as? StoreError)?.code == .incompatible
        }
        #expect(try StoreDigest(of: shared, externalData: nil) == before)
    }

    @Test(
        "A merge of a store with a key below 1 ends with an error that names the entity",
        arguments: ["old", "shared"],
        [Int64.min, -1, 0]
    )
    func keysBelowOne(_ name: String, _ key: Int64) throws {
        let triple = try StoreMergeTests.triple()
        try triple.store("old").insert("Category")
        let store = try triple.store(name)
        let last = "(SELECT max(Z_PK) FROM ZCATEGORY)"
        try store.connection.execute("UPDATE ZCATEGORY SET Z_PK = \(key) WHERE Z_PK = \(last)")
        let before = try StoreDigest(of: store.connection, externalData: nil)
        #expect {
            _ = try triple.plan()
        } throws: {
            let error = $0 as? StoreError
            return error?.code == .damaged && error?.message.contains("Category has the key \(key)") == true
        }
        #expect(try StoreDigest(of: store.connection, externalData: nil) == before)
    }

    @Test("A merge of unrelated stores notes the entities whose objects it inserts without identifying them")
    func unidentified() throws {
        let triple = try StoreMergeTests.triple()
        let old = try triple.store("old")
        try Self.rename(old, "0E3E5F3E-1DB3-4B0E-8A6B-0F0A3D0C9A11")
        try old.insert("Category")
        let count = try old.connection.value("SELECT count(*) FROM ZCATEGORY")?.integer ?? 0
        let places = try ["old", "shared"].map { try triple.store($0).place() }

        let summary = try StoreMerger(base: nil, old: places[0], shared: places[1]).plan().summary

        #expect(summary.refusals.isEmpty)
        #expect(summary.notes.contains(MergeNote(.unidentified, entity: "Category", count: Int(count))))
        #expect(summary.entities["Category"]?.inserted == Int(count))
        var settings = MergeSettings()
        settings.identities = ["Category": ["title"]]
        let named = try StoreMerger(base: nil, old: places[0], shared: places[1], settings: settings).plan().summary
        #expect(!named.notes.contains { $0.kind == .unidentified && $0.entity == "Category" })
    }

    @Test("A view or trigger on a table without moved keys does not prevent the merge")
    func namedTable() throws {
        let triple = try StoreMergeTests.triple()
        try triple.store("old").connection.execute("CREATE VIEW TITLES AS SELECT Z_PK, ZTITLE FROM ZCATEGORY")
        try triple.store("old").insert("Category")
        #expect(try triple.merge().result.outcome == .merged)
    }

    @Test("A CloudKit mirror that the old side did not change permits the merge, and is not written")
    func idleMirror() throws {
        let triple = try StoreMergeTests.triple()
        try Self.mirror(
            triple,
            "INSERT INTO ANSCKRECORDMETADATA VALUES (1, 1, 1)",
            in: ["base", "old", "shared"]
        )
        let shared = try triple.store("shared")
        try shared.connection.execute("INSERT INTO ANSCKRECORDMETADATA VALUES (2, 2, 2)")
        try Self.edit(triple.store("old"))
        #expect(try triple.merge().result.outcome == .merged)
        let rows = "SELECT group_concat(ZENTITYPK) FROM ANSCKRECORDMETADATA"
        #expect(try shared.connection.value(rows) == .text("1,2"))
    }

    @Test("Merging a plain SQLite store with a Core Data store is refused")
    func kinds() throws {
        let triple = try StoreMergeTests.triple()
        let file = try triple.folder.directory.createFile("plain.sqlite", mode: 0o644)
        try file.close()
        let location = StoreLocation(folder: triple.folder.directory.path, name: "plain.sqlite")
        let plain = try StoreConnection(location, access: .liveWriting)
        try plain.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT)")
        let merge = try StoreMerger(
            base: nil,
            old: MergePlace(plain),
            shared: triple.store("shared").place()
        )
        .plan()
        #expect(merge.summary.refusals == [.kindsDiffer])
        #expect(throws: StoreError.self) {
            _ = try merge.carryOut(MergeRun(epoch: "1", deadline: Deadline(after: .seconds(60))))
        }
    }

    @Test(
        "Settings that name an unknown entity or attribute are an error",
        arguments: [
            MergeSettings(policies: ["Habbit": .overwrite]), MergeSettings(identities: ["Habit": ["cood"]]),
            MergeSettings(identities: ["Hobby": ["code"]]), MergeSettings(identities: ["Category": ["habits"]]),
        ]
    )
    func settings(_ settings: MergeSettings) throws {
        let triple = try StoreMergeTests.triple()
        try Self.edit(triple.store("old"))
        #expect { _ = try triple.plan(settings) } throws: { ($0 as? StoreError)?.code == .wrongSettings }
    }

    @Test("An identity that depends on itself through a relationship is an error that names the entity")
    func circularIdentity() throws {
        let triple = try MergeTriple(RandomGraph.model) { try $0.insert("Person") }
        try triple.store("old").insert("Person")
        let error = #expect(throws: StoreError.self) {
            try triple.plan(MergeSettings(identities: ["Person": ["spouse"]]))
        }
        #expect(error?.code == .wrongSettings)
        #expect(error?.message == "the identity of Person depends on itself through its relationships")
    }

    @Test("The entities without an identity of two Core Data stores are named before a merge without a base")
    func unidentifiedEntities() throws {
        let triple = try StoreMergeTests.triple()
        let (old, shared) = (try triple.store("old").connection, try triple.store("shared").connection)
        func unidentified(_ settings: MergeSettings) throws -> [String] {
            try MergeRefusal.unidentified(in: old, and: shared, settings)
        }
        // A uniqueness constraint identifies the habits.
        #expect(try unidentified(MergeSettings()) == ["Category"])
        #expect(try unidentified(MergeSettings(identities: ["Category": ["title"]])).isEmpty)
    }
}
