import FoundationEssentials
import GRDB
import StoreFormat
import StoreMigration
import TestSupport
import Testing

/// What the guide on schema-comparing migrators says, asked of one that many apps have.
@Suite("GRDB's migrator and the fence")
struct SchemaComparingMigratorTests {
    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("notes") { try $0.execute(sql: "CREATE TABLE note(id INTEGER PRIMARY KEY)") }
        return migrator
    }

    @Test("takes a fenced store for one of another schema, and a captured one not", arguments: [true, false])
    func schemaChanges(isFenced: Bool) throws {
        let scratch = try ScratchFolder()
        let (old, new) = (scratch.location("Old.sqlite"), scratch.location("New.sqlite"))
        let queue = try DatabaseQueue(path: old.path)
        try Self.migrator.migrate(queue)
        try queue.close()
        var options = ShareOptions()
        options.oldStore = isFenced ? .fence : .capture
        let migrator = StoreMigrator(from: URL(filePath: old.path), to: URL(filePath: new.path), options: options)
        #expect(try migrator.shareStoreIfNecessary(isCancelled: nil).outcome == .shared)

        let reopened = try DatabaseQueue(path: old.path)
        #expect(try reopened.read { try Self.migrator.hasSchemaChanges($0) } == isFenced)
        // A migrator that goes by the list of its migrations has nothing to do.
        try Self.migrator.migrate(reopened)
        try reopened.close()
    }
}
