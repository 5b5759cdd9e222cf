import ChangeMerging
import SafeFiles
import StoreAccess
import StoreFormat
import StoreVerification
import StoreWriting
import TestSupport
import Testing

@Suite("Rolling back a merge of Core Data stores")
struct ManagedUndoTests {
    private static func change(_ store: MergeStore, _ steps: Int, _ generator: inout SeededGenerator) throws {
        var objects = try store.objects()
        try store.save { try RandomGraph.change(&objects, $0, steps: steps, &generator) }
    }

    /// Gives a random person a name that is read by reference.
    private static func enlarge(_ store: MergeStore, _ generator: inout SeededGenerator) throws {
        let people = try store.objects().filter { ["Person", "Child"].contains($0.entity) }
        guard let person = people.randomElement(using: &generator) else { return }
        let letter = ["a", "b", "c"].randomElement(using: &generator) ?? "a"
        try store.save { try $0.update(person, ["name": .text(SQLText(String(repeating: letter, count: 300_000)))]) }
    }

    private static func undo(_ triple: MergeTriple, _ file: DurableFile) throws -> MergeUndo.Result {
        try MergeUndo(reading: file)
            .undo(in: triple.store("shared").place(), deadline: Deadline(after: .seconds(60)))
    }

    /// The versions of all objects; a version must never recur with other values.
    private static func versions(_ store: MergeStore) throws -> [ObjectKey: Int64] {
        var result: [ObjectKey: Int64] = [:]
        for key in try store.objects() { result[key] = try store.writer.version(of: key) }
        return result
    }

    @Test(
        "Rolling back a random merge restores objects and relationships; versions and history continue",
        arguments: Seed.several(24),
        [false, true]
    )
    func random(_ seed: UInt64, hasLargeValues: Bool) throws {
        var generator = SeededGenerator(seed: seed)
        func change(_ store: MergeStore, _ steps: Int) throws {
            try Self.change(store, steps, &generator)
            if hasLargeValues { try Self.enlarge(store, &generator) }
        }
        let triple = try MergeTriple(RandomGraph.model) { store in for _ in 0..<3 { try change(store, 14) } }
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        for store in [old, shared] { for _ in 0..<3 { try change(store, 6) } }
        let plan = try StoreMerger(base: triple.store("base").place(), old: old.place(), shared: shared.place()).plan()
        guard !plan.summary.isIdle else { return }
        let before = try PlainGraph(shared)
        let versionsBefore = try Self.versions(shared)
        let file = try triple.recordedMerge()
        let versionsMerged = try Self.versions(shared)
        let merged = try PlainGraph(shared)
        let greatest = try shared.connection.value("SELECT group_concat(Z_MAX) FROM Z_PRIMARYKEY WHERE Z_ENT < 16000")
        let result = try Self.undo(triple, file)
        let after = try PlainGraph(shared)
        #expect(after.objects == before.objects, "seed \(seed)")
        #expect(after.pairs == before.pairs, "seed \(seed)")
        for (key, version) in try Self.versions(shared) {
            let known = [versionsBefore[key], versionsMerged[key]].compactMap { $0 }
            let isUntouched = versionsBefore[key] == versionsMerged[key] && version == versionsBefore[key]
            #expect(isUntouched || version > known.max() ?? 0, "\(key), seed \(seed)")
        }
        #expect(
            try shared.connection.value("SELECT group_concat(Z_MAX) FROM Z_PRIMARYKEY WHERE Z_ENT < 16000") == greatest
        )
        let last = try shared.connection.value("SELECT max(Z_PK) FROM ATRANSACTION")
        #expect(result.historyTransaction.map(SQLValue.integer) == last)
        let listed = try shared.connection.value(
            "SELECT count(*) FROM ACHANGE WHERE ZTRANSACTIONID = ?",
            [last ?? .null]
        )
        #expect(listed?.integer == Int64(result.inserted + result.updated + result.deleted))
        #expect(try StoreMerger.epoch(of: shared.connection) == nil)
        let report = try StoreVerifier().verify(shared.location, level: .coredata)
        #expect(report.passed, "seed \(seed): \(report.findings)")
        // Merge again.
        try triple.merge(epoch: "2")
        let again = try PlainGraph(shared)
        #expect(again.objects.values.count == merged.objects.values.count, "seed \(seed)")
    }

    @Test("An object written after the merge fails the rollback by name, and nothing changes")
    func laterWrites() throws {
        let triple = try MergeTriple(RandomGraph.model) { try $0.insert("Person", ["name": .text("ann")]) }
        let key = try #require(try triple.store("base").objects().first)
        try triple.store("old").save { try $0.update(key, ["age": .integer(3)]) }
        let file = try triple.recordedMerge()
        let shared = try triple.store("shared")
        try shared.save { try $0.update(key, ["name": .text("bob")]) }
        let error = #expect(throws: StoreError.self) { _ = try Self.undo(triple, file) }
        #expect(error?.code == .changedMeanwhile)
        #expect(error?.message.contains("an object of Person (p1)") == true)
        #expect(try shared.value("age", of: key) == .integer(3))
    }

    @Test("A rollback restores the external file that the merge replaced, and removes the new one")
    func files() throws {
        func bytes(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 150_000) }
        let triple = try MergeTriple(RandomGraph.model) {
            try $0.insert("Person", ["photo": .blob(bytes(1))])
        }
        let key = try #require(try triple.store("base").objects().first)
        try triple.store("old").save { try $0.update(key, ["photo": .blob(bytes(2))]) }
        let shared = try triple.store("shared")
        let names = try shared.externalData()?.entries()
        let file = try triple.recordedMerge()
        #expect(try shared.externalData()?.entries() != names)
        _ = try Self.undo(triple, file)
        #expect(try shared.externalData()?.entries() == names)
        let stored = try #require(try shared.value("photo", of: key))
        let photo = try #require(RandomGraph.model.entitiesByName["Person"]?.attributes.first { $0.name == "photo" })
        #expect(try shared.side().plain(stored, of: photo) == .blob(bytes(1)))
    }

    @Test(
        "A rollback restores the large text that a merge changed or deleted, and the record holds only what changed",
        arguments: [
            ("name", .text(SQLText(String(repeating: "b", count: 2_000_000))), 300_000..<400_000),
            ("name", .text("small"), 300_000..<400_000), ("name", .null, 300_000..<400_000),
            ("age", .integer(3), 0..<10_000), (nil, .null, 300_000..<400_000),
        ] as [(String?, SQLValue, Range<Int>)]
    )
    func large(_ attribute: String?, _ value: SQLValue, _ size: Range<Int>) throws {
        let text = SQLText(String(repeating: "a", count: 300_000))
        let triple = try MergeTriple(RandomGraph.model) { try $0.insert("Person", ["name": .text(text)]) }
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        let key = try #require(try shared.objects().first)
        try old.save { if let attribute { try $0.update(key, [attribute: value]) } else { try $0.delete([key]) } }
        let (before, after) = (try PlainGraph(shared), try PlainGraph(old))
        let file = try triple.recordedMerge()
        #expect(try PlainGraph(shared).objects == after.objects)
        #expect(size.contains(Int(try file.status().size)))
        _ = try Self.undo(triple, file)
        #expect(try PlainGraph(shared).objects == before.objects)
        guard let attribute else { return }
        let last = try shared.connection.value("SELECT max(Z_PK) FROM ACHANGE")?.integer
        let history = try #require(PersistentHistory(schema: StoreSchema(reading: shared.connection)))
        try history.forEachChange(reading: shared.connection) { change in
            guard change.number == last else { return }
            #expect(change.properties(in: shared.writer.layout)?.names.contains(attribute) == true)
        }
    }

    @Test("A rollback fails if a large text was changed after the merge, and nothing changes")
    func largeLaterWrite() throws {
        let triple = try MergeTriple(RandomGraph.model) { try $0.insert("Person", ["name": .text("ann")]) }
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        let key = try #require(try shared.objects().first)
        try old.save { try $0.update(key, ["name": .text(SQLText(String(repeating: "b", count: 300_000)))]) }
        let file = try triple.recordedMerge()
        let late = SQLText(String(repeating: "c", count: 300_000))
        try shared.save { try $0.update(key, ["name": .text(late)]) }
        let error = #expect(throws: StoreError.self) { _ = try Self.undo(triple, file) }
        #expect(error?.code == .changedMeanwhile)
        #expect(try shared.connection.value("SELECT ZNAME FROM ZPERSON") == .text(late))
    }

    @Test("The rollback of an added object keeps its large tombstone in history")
    func largeTombstone() throws {
        let triple = try MergeTriple(StoreMergeTests.model) { try $0.insert("Habit", ["code": .text("a")]) }
        let code = SQLText(String(repeating: "b", count: 300_000))
        try triple.store("old").insert("Habit", ["code": .text(code)])
        let file = try triple.recordedMerge()
        _ = try Self.undo(triple, file)
        let shared = try triple.store("shared")
        #expect(try shared.objects().count == 1)
        #expect(try shared.connection.value("SELECT ZTOMBSTONE0 FROM ACHANGE ORDER BY Z_PK DESC") == .text(code))
    }

    @Test("The record of another store's merge is rejected")
    func otherStore() throws {
        let triple = try MergeTriple(RandomGraph.model) { try $0.insert("Person") }
        let key = try #require(try triple.store("base").objects().first)
        try triple.store("old").save { try $0.update(key, ["age": .integer(3)]) }
        let file = try triple.recordedMerge()
        let shared = try triple.store("shared")
        try shared.connection.execute("UPDATE Z_METADATA SET Z_UUID = 'E7A0B1C2-0000-4000-8000-000000000000'")
        let error = #expect(throws: StoreError.self) { _ = try Self.undo(triple, file) }
        #expect(error?.code == .incompatible)
    }

    @Test("A rollback keeps the version of an object a whole number, although the merge gave it the greatest one")
    func greatestVersion() throws {
        let triple = try MergeTriple(RandomGraph.model) { store in
            try store.insert("Person", ["name": .text("ann")])
            try store.connection.execute("UPDATE ZPERSON SET Z_OPT = \(Int64.max - 1)")
        }
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        let key = try #require(try shared.objects().first)
        try old.save { try $0.update(key, ["age": .integer(3)]) }
        let file = try triple.recordedMerge()
        #expect(try shared.writer.version(of: key) == Int64.max)

        _ = try Self.undo(triple, file)

        #expect(try shared.value("age", of: key) == .null)
        #expect(try shared.connection.value("SELECT typeof(Z_OPT) FROM ZPERSON") == .text("integer"))
    }
}
