import ChangeMerging
import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting
import Testing

@Suite("Merging large values in external files")
struct LargeValueMergeTests {
    private static func bytes(_ byte: UInt8) -> SQLValue { .blob([UInt8](repeating: byte, count: 150_000)) }

    private static func triple() throws -> MergeTriple {
        try MergeTriple(RandomGraph.model) { try $0.insert("Person", ["photo": bytes(1)]) }
    }

    /// The stored value of the only photo in the shared store.
    private static func photo(_ triple: MergeTriple) throws -> SQLValue? {
        let shared = try triple.store("shared")
        let key = try #require(try shared.objects().first)
        let stored = try #require(try shared.value("photo", of: key))
        let photo = try #require(RandomGraph.model.entitiesByName["Person"]?.attributes.first { $0.name == "photo" })
        return try shared.side().plain(stored, of: photo)
    }

    @Test("The second change of a large value is merged although the base's file was deleted")
    func secondChange() throws {
        let triple = try Self.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        let key = try #require(try old.objects().first)
        try old.save { try $0.update(key, ["photo": Self.bytes(2)]) }
        try triple.merge()
        #expect(try Self.photo(triple) == Self.bytes(2))
        #expect(try shared.value("photo", of: key) == old.value("photo", of: key))
        try triple.renewBase(withFiles: false)
        try old.save { try $0.update(key, ["photo": Self.bytes(3)]) }
        let plan = try triple.merge(MergeSettings(policy: .mergeByPropertyStoreTrump), epoch: "2").plan
        #expect(plan.conflicts.isEmpty && plan.parked.isEmpty)
        #expect(try Self.photo(triple) == Self.bytes(3))
        #expect(try shared.externalData()?.entries() == old.externalData()?.entries())
    }

    @Test("An external file that changed in place stops the merge until it is the same in both stores")
    func changedInPlace() throws {
        let triple = try Self.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        let name = try #require(try old.externalData()?.entries().first)
        try old.insert("Person", ["name": .text("late")])
        try old.writer.external?.remove(name)
        try old.writer.external?.write([9], as: name)
        let plan = try triple.plan()
        #expect(plan.summary.refusals == [.externalFileDiffers(name)])
        let digest = try StoreDigest(of: old.connection, externalData: old.externalData())
        #expect(throws: UnaccountedContent.self) { try SettledDigest(digest, merged: #require(plan.account)) }
        try shared.writer.external?.remove(name)
        try shared.writer.external?.write([9], as: name)
        #expect(try triple.merge().plan.refusals.isEmpty)
    }

    @Test("A file name in use in the shared store keeps its file; the merged value gets another name")
    func takenName() throws {
        let triple = try Self.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        let key = try #require(try old.objects().first)
        try old.save { try $0.update(key, ["photo": Self.bytes(2)]) }
        let stored = try #require(try old.value("photo", of: key)?.blob)
        let name = try #require(ExternalDataWriter.fileName(in: stored))
        try shared.writer.external?.write([9], as: name)
        try triple.merge()
        #expect(try Self.photo(triple) == Self.bytes(2))
        #expect(try shared.value("photo", of: key) != .blob(stored))
        #expect(try shared.externalData()?.contents(of: name, limit: 10) == [9])
    }

    @Test("A merge lists a deletion in the shared store with its large tombstone")
    func tombstone() throws {
        let triple = try MergeTriple(StoreMergeTests.model) { store in
            for code in ["a", "b"] {
                try store.insert("Habit", ["code": .text(SQLText(String(repeating: code, count: 300_000)))])
            }
        }
        try triple.store("shared").save { try $0.delete([StoreMergeTests.habit(2)]) }
        try triple.store("old").save { try $0.update(StoreMergeTests.habit(1), ["goal": .integer(2)]) }
        let result = try triple.merge().result
        let kept = try triple.store("shared").connection
            .value(
                "SELECT length(ZTOMBSTONE0) FROM ACHANGE WHERE ZTRANSACTIONID = ? AND ZCHANGETYPE = 2",
                [.integer(#require(result.historyTransaction))]
            )
        #expect(kept == .integer(300_000))
    }
}
