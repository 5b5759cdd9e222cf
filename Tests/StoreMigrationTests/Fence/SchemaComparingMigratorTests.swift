import FoundationEssentials
import GRDB
import StoreAccess
import StoreMigration
import TestSupport
import Testing

/// The claims of the page on schema-comparing migrators, tested with a widely used one.
@Suite("GRDB's migrator and the fence")
struct SchemaComparingMigratorTests {
    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("notes") { try $0.execute(sql: "CREATE TABLE note(id INTEGER PRIMARY KEY)") }
        return migrator
    }

    @Test("GRDB reports a fenced store as changed, and a captured one as unchanged", arguments: [true, false])
    func schemaChanges(isFenced: Bool) throws {
        let scratch = try ScratchFolder()
        let (old, new) = (scratch.location("Old.sqlite"), scratch.location("New.sqlite"))
        let queue = try DatabaseQueue(path: old.path)
        try Self.migrator.migrate(queue)
        try queue.close()
        var options = ShareOptions()
        options.oldStore = isFenced ? .fence : .capture
        let migrator = StoreMigrator(from: URL(filePath: old.path), to: URL(filePath: new.path), options: options)
        #expect(try migrator.shareStoreIfNecessaryAndWait(isCancelled: nil).outcome == .shared)

        let reopened = try DatabaseQueue(path: old.path)
        #expect(try reopened.read { try Self.migrator.hasSchemaChanges($0) } == isFenced)
        // A migrator that uses the list of its migrations has nothing to do.
        try Self.migrator.migrate(reopened)
        try reopened.close()
    }
}
