import SafeFiles
import StoreAccess
import StoreFormat
import TestSupport
import Testing

@Suite(
    "Genuine stores",
    .genuineStores
)
struct GenuineStoreTests {
    @Test("An inspection changes no byte and leaves no file", arguments: Corpus.stores)
    func untouched(_ store: String) throws {
        let scratch = try ScratchFolder()
        let location = try Corpus.copy(store, into: scratch)
        let before = try scratch.everything()
        let found = try #require(try StoreInspector(depth: .digest).inspect(location).inspection)
        #expect(try scratch.everything() == before)
        #expect(found.kind == .coreData)
        #expect(found.uuid?.utf8.count == 36)
        #expect(!found.entities.isEmpty)
        #expect(found.digest?.tables.contains { $0.name == "Z_METADATA" } == true)
        #expect(found.model?.entitiesByName.count == found.entities.count)
        #expect(found.modelSource != nil)
    }

    @Test("An inspection counts all rows, including those in the log", arguments: Corpus.stores)
    func counts(_ store: String) throws {
        let scratch = try ScratchFolder()
        let location = try Corpus.copy(store, into: scratch)
        let found = try #require(try StoreInspector(depth: .counts).inspect(location).inspection)
        // An app that opens the store sees these rows.
        let app = try StoreConnection(location, access: .liveWriting)
        let schema = try StoreSchema(reading: app)
        var objects: Int64 = 0
        for root in found.entities where root.parent == nil {
            guard let table = schema.table(named: "Z" + root.name.uppercased()) else { continue }
            objects += try app.value("SELECT count(*) FROM \(SQLName.quoted(table.name))")?.integer ?? 0
        }
        #expect(found.objectCount == objects)
        for join in found.joinTables {
            #expect(try app.value("SELECT count(*) FROM \(SQLName.quoted(join.name))") == .integer(join.rows))
        }
        if let history = found.history {
            #expect(try app.value("SELECT count(*) FROM ACHANGE") == .integer(history.changes))
        }
    }

    @Test("The digest is the same with a log, after a checkpoint and in rollback mode", arguments: Corpus.stores)
    func digest(_ store: String) throws {
        let scratch = try ScratchFolder()
        let location = try Corpus.copy(store, into: scratch)
        func digest() throws -> StoreDigest? { try StoreInspector(depth: .digest).inspect(location).inspection?.digest }
        let before = try #require(try digest())
        let app = try StoreConnection(location, access: .liveWriting)
        try app.execute("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode=DELETE")
        try app.close()
        #expect(try digest() == before)
        let other = try StoreConnection(location, access: .privateCopy)
        try other.execute("UPDATE Z_METADATA SET Z_VERSION = Z_VERSION + 1")
        try other.close()
        #expect(try digest() != before)
    }
}
