import ChangeMerging
import SafeFiles
import StoreFormat
import StoreVerification
import StoreWriting
import TestSupport
import Testing

@Suite("Rolling back a merge of Core Data stores")
struct ManagedUndoTests {
    private static func record(_ triple: MergeTriple, _ settings: MergeSettings = MergeSettings()) throws -> DurableFile
    {
        let shared = try triple.store("shared")
        let file = try triple.folder.directory.createFile("record", mode: 0o600)
        let plan = try StoreMerger(
            base: triple.store("base").place(),
            old: triple.store("old").place(),
            shared: shared.place(),
            settings: settings
        )
        .plan()
        let result = try plan.carryOut(
            MergeRun(
                epoch: "1",
                deadline: Deadline(after: .seconds(60)),
                record: { try ChangesetRecording($0, externalData: shared.externalData(), to: file) }
            )
        )
        #expect(result.outcome == .merged)
        return try triple.folder.directory.openFile("record", for: .reading)
    }

    private static func change(_ store: MergeStore, _ steps: Int, _ generator: inout SeededGenerator) throws {
        var objects = try store.objects()
        try store.save { try RandomGraph.change(&objects, $0, steps: steps, &generator) }
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
        arguments: Seed.several(24)
    )
    func random(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let triple = try MergeTriple(RandomGraph.model) { store in
            for _ in 0..<3 { try Self.change(store, 14, &generator) }
        }
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        for store in [old, shared] { for _ in 0..<3 { try Self.change(store, 6, &generator) } }
        let plan = try StoreMerger(base: triple.store("base").place(), old: old.place(), shared: shared.place()).plan()
        guard !plan.summary.isIdle else { return }
        let before = try PlainGraph(shared)
        let versionsBefore = try Self.versions(shared)
        let file = try Self.record(triple)
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
        let file = try Self.record(triple)
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
        let file = try Self.record(triple)
        #expect(try shared.externalData()?.entries() != names)
        _ = try Self.undo(triple, file)
        #expect(try shared.externalData()?.entries() == names)
        let stored = try #require(try shared.value("photo", of: key))
        let photo = try #require(RandomGraph.model.entities["Person"]?.attributes.first { $0.name == "photo" })
        #expect(try shared.side().plain(stored, of: photo) == .blob(bytes(1)))
    }

    @Test("The record of another store's merge is rejected")
    func otherStore() throws {
        let triple = try MergeTriple(RandomGraph.model) { try $0.insert("Person") }
        let key = try #require(try triple.store("base").objects().first)
        try triple.store("old").save { try $0.update(key, ["age": .integer(3)]) }
        let file = try Self.record(triple)
        let shared = try triple.store("shared")
        try shared.connection.execute("UPDATE Z_METADATA SET Z_UUID = 'E7A0B1C2-0000-4000-8000-000000000000'")
        let error = #expect(throws: StoreError.self) { _ = try Self.undo(triple, file) }
        #expect(error?.code == .incompatible)
    }
}
