import CSQLite
import Foundation
import StoreAccess
import StoreFixtures
import StoreFormat
import Testing

@testable import StoreVerification

@Suite("The rules of the level coredata")
struct CoreDataRulesTests {
    private func store() throws -> ScratchStore {
        let store = try ScratchStore()
        try RecipeBuilder.build(RecipeReader.recipe(from: CoreDataDamage.recipe), at: store.location)
        return store
    }

    private func findings(in store: ScratchStore) throws -> [Finding] {
        try StoreVerifier().verify(store.location, level: .coredata).findings.filter { $0.level == .coredata }
    }

    @Test("A sound Core Data store has no finding")
    func sound() throws {
        #expect(try findings(in: store()) == [])
    }

    @Test("Each broken invariant is found", arguments: CoreDataDamage.all)
    func damage(_ damage: CoreDataDamage) throws {
        let store = try store()
        try store.execute(damage.sql)
        let findings = try findings(in: store)
        let found = findings.filter { $0.code == damage.code && $0.severity == damage.severity }
        #expect(!found.isEmpty, "\(findings)")
        if let table = damage.table { #expect(found.contains { $0.table == table }) }
        if let key = damage.key { #expect(found.contains { $0.key == key }) }
    }

    @Test("Of many equal findings the first are listed and the rest is counted")
    func many() throws {
        let store = try store()
        try store.execute(
            """
            WITH RECURSIVE c(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM c WHERE i < 59)
            INSERT INTO ZPET (Z_PK, Z_ENT, Z_OPT, ZKEEPER) SELECT i, 6, 1, 999 FROM c;
            UPDATE Z_PRIMARYKEY SET Z_MAX = 100 WHERE Z_NAME = 'Pet'
            """
        )
        let dangling = try findings(in: store).filter { $0.code == .danglingRelationship }
        #expect(dangling.count == FindingList.limit + 1)
        #expect(dangling.last?.message.contains("30 more") == true)
        #expect(dangling.last?.key == nil)
    }

    @Test("A finding never contains a value of a row")
    func noValues() throws {
        for damage in CoreDataDamage.all {
            let store = try store()
            try store.execute(damage.sql)
            for finding in try findings(in: store) {
                #expect(!["Ann", "Bob", "Marvin", "Rex", "example.com"].contains { finding.message.contains($0) })
            }
        }
    }

    @Test("A digest that does not match the version hashes is found")
    func modelDigest() throws {
        let store = try store()
        let connection = try StoreConnection(store.location, access: .immutable)
        let metadata = try #require(try StoreMetadata(reading: connection))
        let digest = try #require(metadata.recordedModelDigest)
        let changed = String(digest.reversed())
        try connection.close()
        let list = try #require(try store.rows("SELECT hex(Z_PLIST) FROM Z_METADATA").first)
        try store.execute(
            "UPDATE Z_METADATA SET Z_PLIST = x'\(list.replacingOccurrences(of: hex(digest), with: hex(changed)))'"
        )
        #expect(try findings(in: store).map(\.code) == [.modelDigest])
    }

    private func hex(_ text: String) -> String { text.utf8.map { String(format: "%02X", $0) }.joined() }

    @Test("A missing table of an entity is found")
    func missingTable() throws {
        let store = try store()
        try store.execute("DROP TABLE ZPET")
        let findings = try findings(in: store)
        #expect(findings.contains { $0.code == .missingTable && $0.severity == .error && $0.message.contains("ZPET") })
    }

    @Test("A log of a backup that replaced the content is accepted, also after further changes of the schema")
    func replacedContent() throws {
        let store = try store()
        let other = try ScratchStore(name: "Other.sqlite")
        let recipe = CoreDataDamage.recipe.replacingOccurrences(of: "seed: verification", with: "seed: another")
        try RecipeBuilder.build(RecipeReader.recipe(from: recipe), at: other.location)
        let target = try StoreConnection(store.location, access: .liveWriting)
        let source = try StoreConnection(other.location, access: .liveReading)
        // Holds the log open, so that it is not checkpointed.
        let reader = try StoreConnection(store.location, access: .liveReading)
        try reader.beginReading()
        target.withHandle { target in
            source.withHandle { source in
                let backup = sqlite3_backup_init(target, "main", source, "main")
                #expect(sqlite3_backup_step(backup, -1) == SQLITE_DONE)
                #expect(sqlite3_backup_finish(backup) == SQLITE_OK)
            }
        }
        #expect(try !findings(in: store).contains { $0.code == .foreignWriteAheadLog })

        try target.execute("CREATE INDEX own ON ZPET (Z_OPT); CREATE INDEX other ON ZPET (Z_ENT)")

        #expect(try !findings(in: store).contains { $0.code == .foreignWriteAheadLog })
        reader.rollback()
    }

    @Test("Another store's write-ahead log is found")
    func foreignLog() throws {
        let store = try store()
        let other = try ScratchStore(name: "Other.sqlite")
        let recipe = CoreDataDamage.recipe.replacingOccurrences(of: "seed: verification", with: "seed: another")
            .replacingOccurrences(of: "history: true", with: "history: true, leftInWriteAheadLog: everything")
        try RecipeBuilder.build(RecipeReader.recipe(from: recipe), at: other.location)
        let log = store.folder.appending(path: store.location.writeAheadLogName)
        try FileManager.default.copyItem(
            at: other.folder.appending(path: other.location.writeAheadLogName),
            to: log
        )
        let findings = try findings(in: store)
        #expect(findings.contains { $0.code == .foreignWriteAheadLog && $0.severity == .error })
    }
}
