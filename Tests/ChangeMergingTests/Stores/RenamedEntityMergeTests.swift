import ChangeMerging
import StoreAccess
import StoreWriting
import Testing

@Suite("Merging stores that number an entity under a former name")
struct RenamedEntityMergeTests {
    @Test("A late object gets a key that was never assigned, not that of a deleted object", arguments: [false, true])
    func keys(_ tracksHistory: Bool) throws {
        let model = StoreMergeTests.model
        let triple = try MergeTriple(model, tracksHistory: tracksHistory) { store in
            try store.insert("Category", ["title": .text("health")])
            try store.connection.execute("UPDATE Z_PRIMARYKEY SET Z_NAME = 'Kind' WHERE Z_NAME = 'Category'")
        }
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        let gone = try shared.insert("Category", ["title": .text("deleted")])
        try shared.save { try $0.delete([gone]) }
        let late = try old.insert("Category", ["title": .text("late")])
        #expect(late == gone)
        #expect(try shared.side().greatestKey(of: "Category") == 2)

        try triple.merge()

        #expect(try shared.objects().map(\.primaryKey) == [1, 3])
        #expect(try shared.value("title", of: ObjectKey(entity: "Category", primaryKey: 3)) == .text("late"))
    }
}
