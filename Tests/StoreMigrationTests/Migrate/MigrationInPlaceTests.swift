import SafeFiles
import StoreAccess
import Synchronization
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Migrating a store in place")
struct MigrationInPlaceTests {
    @Test("The external files stay where they are: the staging folder has no copies of them")
    func externalFiles() throws {
        let places = try Places()
        try places.makeDummies(at: places.oldStore)
        try places.writeExternalFile("blob", 7, count: 1000, in: places.old)
        let model = try places.writeLaterDummyModel(in: places.container)
        let files = try #require(try places.old.directory.externalData(of: places.oldStore))
        let before = try files.status(of: "blob")
        let folder = try Directory.open(path: places.old.path)
        let staged = Mutex<[String]?>(nil)

        let outcome = try LightweightMigrator(of: places.oldStore.url, to: model.url) { progress in
            guard progress.phase == .publishing, progress.done == 0 else { return }
            do {
                let name = try #require(folder.entries().first(where: StagingOrigin.isFolder))
                let names = try folder.openDirectory(name).entries()
                staged.withLock { $0 = names }
            } catch {
                Issue.record(error)
            }
        }
        .migrateAndWait()

        #expect(outcome.outcome == .migrated)
        #expect(staged.withLock { $0 } == [places.name])
        #expect(try files.status(of: "blob") == before)
        #expect(try places.count(Places.dummyNoteColumns, in: places.oldStore) == 1)
        #expect(try places.count("SELECT count(*) FROM ZTESTDUMMY", in: places.oldStore) == 3)
    }

    @Test("A store that is migrated already stays as it is")
    func again() throws {
        let places = try Places()
        try places.makeDummies(at: places.oldStore)
        let model = try places.writeLaterDummyModel(in: places.container)
        let migrator = LightweightMigrator(of: places.oldStore.url, to: model.url)
        #expect(try migrator.migrateAndWait().outcome == .migrated)
        let bytes = try places.old.bytes(places.name)
        #expect(try migrator.migrateAndWait().transaction == nil)
        #expect(try places.old.bytes(places.name) == bytes)
    }
}
