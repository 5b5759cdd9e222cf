import ChangeMerging
import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting
import Testing

@Suite("Finding each side's changes for a merge")
struct FoundChangesTests {
    private static func toMany(_ name: String, _ destination: String, _ inverse: String) -> RelationshipDescription {
        RelationshipDescription(name: name, destination: destination, inverse: inverse, maxCount: 0)
    }

    /// Notes with tags: a tag has several notes, so that a join table keeps the pairs.
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Note",
            attributes: [AttributeDescription(name: "title", type: .string)],
            relationships: [toMany("tags", "Tag", "notes")]
        ),
        EntityDescription(
            name: "Tag",
            attributes: [AttributeDescription(name: "name", type: .string)],
            relationships: [toMany("notes", "Note", "tags")]
        ),
    ])

    private static let note = ObjectKey(entity: "Note", primaryKey: 1)

    /// Inserts tags, and connects them with the note if `isConnected`.
    private static func insertTags(_ names: [String], in store: MergeStore, isConnected: Bool) throws {
        for name in names {
            let tag = try store.insert("Tag", ["name": .text(SQLText(name))])
            if isConnected { try store.save { try $0.connect(note, "tags", to: tag) } }
        }
    }

    private static func tags(of store: MergeStore) throws -> [Int64] {
        try store.writer.destinations(of: note, "tags").map(\.primaryKey).sorted()
    }

    @Test(
        "If the shared store's history was pruned after the base, its changes are found by comparing the rows",
        arguments: [1, Int64(1) << 40]
    )
    func prunedHistory(_ count: Int64) throws {
        let triple = try StoreMergeTests.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        let habit = StoreMergeTests.habit(1)
        let last = try #require(try shared.connection.value("SELECT max(Z_PK) FROM ATRANSACTION")?.integer)
        try old.save { try $0.update(habit, ["name": .text("old")]) }
        try shared.save { try $0.update(habit, ["name": .text("shared")]) }
        try shared.save { try $0.update(StoreMergeTests.habit(2), ["goal": .integer(1)]) }
        let start = { try ChangeCollector.historyStart(from: triple.store("base").side(), to: shared.side()) }
        #expect(try start() != nil)
        // Up to the first transaction after the base, or all.
        try shared.connection.run("DELETE FROM ATRANSACTION WHERE Z_PK <= ?", [.integer(last + count)])

        #expect(try start() == nil)
        let (plan, _) = try triple.merge()

        #expect(plan.conflicts.map(\.property) == ["name"])
        #expect(plan.conflicts.map(\.shared) == [.value(.text("shared"))])
        #expect(try shared.value("name", of: habit) == .text("shared"))
    }

    @Test("Without a base, the old store's pairs of a many-to-many relationship are merged")
    func pairsWithoutBase() throws {
        let triple = try MergeTriple(Self.model) { _ in }
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        for store in [old, shared] { try store.insert("Note", ["title": .text("a")]) }
        try Self.insertTags(["x", "y"], in: old, isConnected: true)
        try Self.insertTags(["x"], in: shared, isConnected: false)

        let merge = try StoreMerger(
            base: nil,
            old: old.place(),
            shared: shared.place(),
            settings: MergeSettings(identities: ["Note": ["title"], "Tag": ["name"]])
        )
        .plan()
        #expect(merge.summary.refusals.isEmpty)
        #expect(merge.summary.connected == 2)
        _ = try merge.carryOut(MergeRun(epoch: "1", deadline: Deadline(after: .seconds(60))))

        #expect(try shared.objects().map(\.entity) == ["Note", "Tag", "Tag"])
        #expect(try Self.tags(of: shared) == [1, 2])
    }

    @Test(
        "Pairs with objects that an earlier merge gave other keys count as unchanged",
        arguments: [MergeSettings.Source.automatic, .scan]
    )
    func pairsUnderOtherKeys(_ source: MergeSettings.Source) throws {
        let triple = try MergeTriple(Self.model) { try $0.insert("Note", ["title": .text("a")]) }
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        try Self.insertTags(["old 1", "old 2"], in: old, isConnected: true)
        try Self.insertTags(["shared 1", "shared 2"], in: shared, isConnected: false)
        var moved: [RekeyedObject] = []
        try triple.plan().forEachRekeyedObject { moved.append($0) }
        try triple.merge()
        #expect(moved.map(\.new.primaryKey) == [3, 4])
        #expect(try Self.tags(of: shared) == [3, 4])

        try triple.renewBase()
        try old.save { try $0.delete([ObjectKey(entity: "Tag", primaryKey: 2)]) }
        let merge = try triple.plan(MergeSettings(source: source), moved: moved)
        _ = try merge.carryOut(MergeRun(epoch: "2", deadline: Deadline(after: .seconds(60))))

        // If the pair counted as added by the shared store, the merge would keep the tag.
        #expect(merge.plan.conflicts.isEmpty)
        #expect(try shared.objects().filter { $0.entity == "Tag" }.map(\.primaryKey) == [1, 2, 3])
        #expect(try Self.tags(of: shared) == [3])
    }

    @Test("A plan lists each changed object once for history, also one that got a new partner")
    func listedOnce() throws {
        let triple = try StoreMergeTests.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        try old.save { try $0.update(StoreMergeTests.habit(1), ["goal": .integer(1)]) }
        let added = try shared.insert("Habit", ["code": .text("c4")])
        try shared.save { try $0.connect(StoreMergeTests.category, "habits", to: added) }

        let listings = try triple.plan().plan.listings

        let row = RowKey(root: "Habit", key: added.primaryKey)
        #expect(listings.filter { $0.row == row }.map(\.kind) == [.insert])
        #expect(listings.contains { $0.row == RowKey(root: "Habit", key: 1) && $0.kind == .update })
        #expect(Set(listings.map(\.row)).count == listings.count)
    }
}
