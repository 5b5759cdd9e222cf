import BuiltInStrategies
import FoundationEssentials
import Glibc
import ManagedObjects
import SafeFiles
import StoreAccess
import StoreStrategies
import StoreVerification
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Sharing a store with strategies")
struct DescribedShareTests {
    @Test("A read-only role cannot save, and the app can")
    func readOnlyExtension() throws {
        let world = try DescribedWorld()
        let outcome = try world.share(["ReadOnlyExtension"], extensions: ["widget"])
        #expect(outcome.outcome == .shared)
        for (role, isReadOnly) in [(StoreRole.app, false), (.extension("widget"), true)] {
            let description = try #require(outcome.descriptions[role])
            let container = PersistentContainer(
                name: "\(role)",
                descriptions: [description],
                viewContextOn: .privateQueue
            )
            let store = try #require(try container.loadPersistentStoresAndWait().first)
            #expect(store.isReadOnly == isReadOnly)
            let error = container.viewContext.performAndWait { context -> (any Error)? in
                do {
                    let objects = try context.fetch(FetchRequest(entityName: "Note"))
                    try context.delete(try #require(objects.first))
                    try context.save()
                    return nil
                } catch {
                    return error
                }
            }
            #expect((error != nil) == isReadOnly, "\(role): \(error.map { "\($0)" } ?? "saved")")
            container.persistentStoreCoordinator.remove(store)
        }
    }

    @Test("Proof and receipt compare the content without the added history tables", arguments: ["wal", "delete"])
    func digests(mode: String) throws {
        let world = try DescribedWorld(mode: mode)
        let before = try world.places.digest(of: world.places.oldStore)
        let outcome = try world.share(["HistoryTracking"])
        #expect(outcome.new?.digest == before)
        #expect(outcome.report?.passed == true)
        let receipt = try #require(try Receipt(beside: world.places.name, in: world.places.container.directory))
        #expect(try receipt.digest == world.places.digest(of: world.places.newStore))
        #expect(receipt.oldDigest == before)
        #expect(receipt.digest != before)
        let report = try StoreVerifier().verify(world.places.newStore, level: .content, against: nil)
        #expect(report.passed && report.levels.last?.status == .passed)
        try world.expectHistory()
        try world.places.expectTidy()
    }

    @Test(
        "A write between the proof and the lock is carried into the described store",
        arguments: ["wal", "delete"],
        ShareOptions.OldStorePolicy.allCases
    )
    func writtenMeanwhile(mode: String, policy: ShareOptions.OldStorePolicy) throws {
        let world = try DescribedWorld(mode: mode)
        let places = world.places
        let change = mode == "wal" ? "RollbackJournal" : "WriteAheadLog"
        let outcome = try world.share(["HistoryTracking", change]) {
            $0.oldStore = policy
        } onProgress: { progress in
            guard progress.phase == .publishing, progress.done == 0 else { return }
            try? places.execute(
                """
                UPDATE ZNOTE SET ZTITLE = 'in time', Z_OPT = Z_OPT + 1 WHERE Z_PK = 1;
                CREATE TABLE extra (x); INSERT INTO extra VALUES (randomblob(100000));
                """
            )
        }
        #expect(outcome.outcome == .shared)
        #expect(outcome.report?.passed == true)
        #expect(
            try places.count("SELECT count(*) FROM ZNOTE, extra WHERE ZTITLE = 'in time'", in: places.newStore) == 1
        )
        #expect(try outcome.new?.digest == places.digest(of: places.oldStore))
        #expect(try places.container.bytes(places.name)[18...19] == (mode == "wal" ? [1, 1] : [2, 2]))
        try world.expectHistory()
        #expect(try world.share(["HistoryTracking", change]) { $0.oldStore = policy }.outcome == .alreadyShared)
        try places.expectTidy()
    }

    @Test("The base of a capture has the old store's settings", arguments: ["HistoryTracking", "RollbackJournal"])
    func capture(_ strategy: String) throws {
        let world = try DescribedWorld()
        let before = try world.places.digest(of: world.places.oldStore)
        #expect(try world.share([strategy]) { $0.oldStore = .capture }.outcome == .shared)
        let folder = try world.places.journalFolder()
        let base = try #require(try folder.entries().first(where: CapturedBase.isOne))
        #expect(try world.places.digest(of: StoreLocation(folder: folder.path, name: base)) == before)
    }

    @Test(
        "Recovery of a described share keeps its descriptions, and ignores the added history",
        arguments: [3, 4, 5, 6]
    )
    func recovered(records: Int) throws {
        let world = try DescribedWorld()
        let places = world.places
        let before = try places.digest(of: places.oldStore)
        let descriptions = try world.share(["HistoryTracking"], extensions: ["widget"]).descriptions
        let undisturbed = try #require(try Receipt(beside: places.name, in: places.container.directory))
        let all = try places.records()
        try places.container.directory.removeFile(ReceiptFile.receiptName(for: places.name))
        let folder = try places.journalFolder()
        try folder.removeFile(MigrationJournal.name)
        var journal = try MigrationJournal(in: folder)
        for record in all.prefix(records) { try journal.append(record) }

        #expect(try Recovery(of: places.oldStore.url).resumeAndWait().outcome == .shared)

        let receipt = try #require(try Receipt(beside: places.name, in: places.container.directory))
        #expect(receipt.descriptions == descriptions.byRoleName)
        #expect(receipt.digest == undisturbed.digest)
        #expect(receipt.oldDigest == before)
        #expect(try places.digest(of: places.oldStore) == before)
        try world.expectHistory()
        #expect(try world.share(["HistoryTracking"], extensions: ["widget"]).findings.isEmpty)
    }

    @Test("An option that does not take effect for a role is found, and the share is rolled back")
    func difference() throws {
        let world = try DescribedWorld()
        let before = try world.places.digest(of: world.places.oldStore)
        let error = #expect(throws: MigrationError.self) {
            try world.share([StrategyPipeline.Step(Sideways())])
        }
        #expect(error?.outcome == .verificationFailed)
        #expect(error?.message.contains("sqlitePragmas.cache_size is 0 for app") == true, "\(error?.message ?? "")")
        #expect(try world.places.container.directory.entries().isEmpty)
        #expect(try !world.places.isFenced(world.places.oldStore))
        #expect(try world.places.digest(of: world.places.oldStore) == before)
        #expect(try world.share(["WriteAheadLog"]).outcome == .shared)
    }

    @Test("A share is refused for a role that carries another model")
    func model() throws {
        let world = try DescribedWorld()
        try world.places.old.write("contents", Array("<model><entity name='Habit'/></model>".utf8))
        let pipeline = StrategyPipeline(
            [],
            roles: [
                ProgramRole(.app),
                ProgramRole(.extension("widget"), modelFile: world.places.old.location("contents").path),
            ]
        )
        let error = #expect(throws: MigrationError.self) { try world.share(pipeline) }
        #expect(error?.outcome == .incompatible)
        #expect(error?.message.contains("extension(widget)") == true, "\(error?.message ?? "")")
        #expect(try world.places.container.directory.entries().isEmpty)
    }

    @Test("A mode that a strategy sets is not reported as the old store's")
    func modeOfStrategy() throws {
        #expect(try DescribedWorld().share([]).findings.contains { $0.code == .notGroupReadable })
        let outcome = try DescribedWorld().share(["SharedAccess:mode=0600"])
        #expect(!outcome.findings.contains { $0.code == .notGroupReadable }, "\(outcome.findings)")
    }

    @Test("Files of another group than their folder's are reported", .enabled(if: geteuid() == 0))
    func otherGroup() throws {
        let code = Finding.Code.containerOfAnotherGroup
        #expect(try !DescribedWorld().share(["SharedAccess"]).findings.contains { $0.code == code })
        #expect(try DescribedWorld().share(["SharedAccess:group=61234"]).findings.contains { $0.code == code })
    }

    @Test("A persistent log remains after the last program has closed the store")
    func persistentLog() throws {
        let world = try DescribedWorld()
        let outcome = try world.share(["WriteAheadLog:persistent=true"])
        let container = PersistentContainer(
            name: "app",
            descriptions: [try #require(outcome.descriptions[.app])],
            viewContextOn: .privateQueue
        )
        let store = try #require(try container.loadPersistentStoresAndWait().first)
        #expect(store.usesPersistentWriteAheadLog)
        container.persistentStoreCoordinator.remove(store)
        #expect(try world.places.container.directory.status(of: world.places.newStore.writeAheadLogName) != nil)
    }

    @Test("A pragma that does not take effect rolls the share of a plain store back")
    func plainDifference() throws {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode=wal; CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        let migrator = StoreMigrator(
            from: places.oldStore.url,
            to: places.newStore.url,
            strategies: StrategyPipeline([StrategyPipeline.Step(Sideways())])
        )
        let error = #expect(throws: MigrationError.self) { try migrator.shareStoreIfNecessaryAndWait(isCancelled: nil) }
        #expect(error?.outcome == .verificationFailed)
        #expect(error?.message.contains("sqlitePragmas.cache_size is 0 for app") == true, "\(error?.message ?? "")")
        #expect(try places.container.directory.entries().isEmpty)
    }

    @Test("An unknown configuration of the model is found when the role opens the store")
    func configuration() throws {
        let world = try DescribedWorld()
        let error = #expect(throws: MigrationError.self) {
            try world.share([StrategyPipeline.Step(Local())])
        }
        #expect(error?.outcome == .verificationFailed)
        #expect(error?.message.contains("app cannot open the store") == true, "\(error?.message ?? "")")
        #expect(try world.places.container.directory.entries().isEmpty)
    }

    /// Sets a configuration of the model.
    private struct Local: StoreStrategy {
        let name = "Local"
        let documentation = StrategyDocumentation(
            summary: "Asks for a configuration.",
            sets: [.configuration],
            example: "Local",
            notApplicable: "It applies to every store."
        )

        func evaluate(_ request: StrategyRequest) throws -> Applicability { .applicable }

        func describe(_ request: StrategyRequest) throws -> DescriptionChanges {
            var changes = DescriptionChanges()
            changes.configuration = "Local"
            return changes
        }
    }

    /// Sets a page cache that no connection can have.
    private struct Sideways: StoreStrategy {
        let name = "Sideways"
        let documentation = StrategyDocumentation(
            summary: "Asks for what cannot be had.",
            sets: [.sqlitePragma("cache_size")],
            example: "Sideways",
            notApplicable: "It applies to every store."
        )

        func evaluate(_ request: StrategyRequest) throws -> Applicability { .applicable }

        func describe(_ request: StrategyRequest) throws -> DescriptionChanges {
            var changes = DescriptionChanges()
            changes.sqlitePragmas["cache_size"] = "much"
            return changes
        }
    }

    @Test("A role with automatic migration gets a copy of the model that the caller's programs carry")
    func migrated() throws {
        let places = try Places()
        try places.makeDummies(at: places.oldStore)
        var options = ShareOptions()
        options.modelFile = try places.writeLaterDummyModel(in: places.old).url
        let migrator = try StoreMigrator(
            from: places.oldStore.url,
            to: places.newStore.url,
            options: options,
            strategies: StrategyPipeline([.init("LightweightMigration")])
        )
        #expect(try migrator.shareStoreIfNecessaryAndWait(isCancelled: nil).outcome == .shared)
        #expect(try places.count(Places.dummyNoteColumns, in: places.newStore) == 1)
        #expect(try places.count(Places.dummyNoteColumns, in: places.oldStore) == 0)
        #expect(try places.count("SELECT count(*) FROM ZTESTDUMMY", in: places.newStore) == 3)
    }
}
