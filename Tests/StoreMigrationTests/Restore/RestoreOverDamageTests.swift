import Foundation
import SafeFiles
import StoreAccess
import StoreBackup
import StoreFormat
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Restoring over a damaged store")
struct RestoreOverDamageTests {
    /// The damage to the store.
    enum Damage: String, CaseIterable, Sendable {
        case noDatabase
        case zeroedPages
        case zeroedSchema
        case cutOff
    }

    /// A store with an external file and a log, its archive, and a damaged copy of it at the destination.
    private func damaged(_ damage: Damage) throws -> (world: RestoreWorld, archive: URL) {
        let world = try RestoreWorld()
        let rows = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 500)"
        try world.stores.makeStore(
            "PRAGMA journal_mode=wal; CREATE TABLE t (x); \(rows) INSERT INTO t SELECT 'row ' || i || hex(zeroblob(40)) FROM c"
        )
        try externalFile("A", in: world.stores, of: world.store)
        let archive = try world.backUp()
        try world.place.write(world.name, try world.stores.bytes(world.name))
        try externalFile("B", in: world.place, of: world.restored)
        switch damage {
        case .noDatabase: try world.place.overwrite(world.name, at: 0, Array("no database at all".utf8))
        case .zeroedPages: try world.place.overwrite(world.name, at: 3 * 4096, [UInt8](repeating: 0, count: 4 * 4096))
        case .zeroedSchema: try world.place.overwrite(world.name, at: 100, [UInt8](repeating: 0xFF, count: 3996))
        case .cutOff:
            try world.place.directory.openFile(world.name, for: .writing).truncate(to: 5 * 4096)
            try world.place.write(world.name + "-wal", [1, 2, 3])
        }
        return (world, archive)
    }

    private func externalFile(_ name: String, in folder: ScratchFolder, of store: StoreLocation) throws {
        let external = try folder.directory.createDirectory(store.supportFolderName, mode: 0o755)
            .createDirectory(StoreLocation.externalDataFolderName, mode: 0o755)
        let file = try external.createFile(name, mode: 0o644)
        try Array(name.utf8).withUnsafeBytes { try file.write($0, at: 0) }
        try file.close()
    }

    @Test(
        "A damaged store with an earlier merge is replaced, and the merge is not repeated",
        arguments: ["no database at all", ""]
    )
    func afterMerge(content: String) throws {
        let world = try RestoreWorld()
        for folder in [world.stores, world.place] {
            try folder.makeStore("CREATE TABLE t (id INTEGER PRIMARY KEY, x)", as: world.name)
        }
        try world.execute("INSERT INTO t VALUES (1, 'merged')", in: world.store)
        var options = MergeOptions()
        options.level = .sqlite
        let merging = StoreMerging(world.store.url, into: world.restored.url, options: options)
        #expect(try merging.mergeAndWait().outcome == .merged)
        let archive = try world.backUp(world.restored)
        let digest = try world.digest(of: world.restored)
        let file = try world.place.directory.openFile(world.name, for: .writing)
        try file.truncate(to: 0)
        try Array(content.utf8).withUnsafeBytes { try file.write($0, at: 0) }
        try file.close()

        #expect(try world.restore(archive) { $0.overwrite = .always }.outcome == .restored)

        #expect(try world.digest(of: world.restored) == digest)
        #expect(try merging.mergeAndWait().outcome == .done)
    }

    @Test("A restore replaces a damaged store and keeps every file of it byte for byte", arguments: Damage.allCases)
    func replaces(damage: Damage) throws {
        let (world, archive) = try damaged(damage)
        let before = try world.place.everything().mapValues(\.bytes)

        let outcome = try world.restore(archive) { $0.overwrite = .always }

        #expect(outcome.outcome == .restored)
        #expect(try world.digest(of: world.restored) == world.digest(of: world.store))
        let external = try world.place.directory.externalData(of: world.restored)
        #expect(try external?.entries() == ["A"])
        let aside = try #require(outcome.keptAside)
        let name = try #require(aside.split(separator: "/").last) + "/"
        let kept = try world.place.everything().filter { $0.key.hasPrefix(name) }
        let found = Dictionary(
            uniqueKeysWithValues: kept.map { (String($0.key.dropFirst(name.count)), $0.value.bytes) }
        )
        #expect(found == before)
        #expect(try world.restore(archive).transaction == nil)
    }

    @Test("A damaged store stays unchanged without --overwrite always", arguments: Damage.allCases)
    func stays(damage: Damage) throws {
        let (world, archive) = try damaged(damage)
        let before = try world.place.everything().mapValues(\.bytes)
        for policy in [RestoreOptions.OverwritePolicy.never, .ifOlder] {
            let error = #expect(throws: MigrationError.self) { try world.restore(archive) { $0.overwrite = policy } }
            #expect(error?.outcome == .foundButUnreadable, "\(String(describing: error))")
        }
        #expect(try world.place.everything().mapValues(\.bytes) == before)
    }

    @Test("A damaged store that a process has open is not displaced")
    func inUse() throws {
        let (world, archive) = try damaged(.zeroedPages)
        let before = try world.place.everything().mapValues(\.bytes)
        let holder = try StoreWriterProcess(world.restored.path)
        #expect(try holder.execute("SELECT 1 FROM sqlite_schema") == "value 1")

        let error = #expect(throws: MigrationError.self) {
            try world.restore(archive) {
                $0.overwrite = .always
                $0.lockTimeout = .milliseconds(500)
            }
        }

        #expect(error?.outcome == .busy, "\(String(describing: error))")
        let after = try world.place.everything().mapValues(\.bytes)
        #expect(after.filter { !$0.key.hasSuffix("-shm") && !$0.key.hasSuffix("-wal") } == before)
        #expect(holder.waitForExit() == 0)
        #expect(try world.restore(archive) { $0.overwrite = .always }.keptAside != nil)
        #expect(try world.digest(of: world.restored) == world.digest(of: world.store))
    }

    @Test(
        "status reports an interrupted restore over damage; resume puts the store back, a restore finishes",
        arguments: [false, true]
    )
    func interrupted(isResumed: Bool) throws {
        let (world, archive) = try damaged(.zeroedPages)
        let before = try world.place.everything().mapValues(\.bytes)
        let folder = world.place.directory
        // The state after a kill between the two renames: the store is displaced, and nothing is published.
        try StateFolder(of: world.restored, stateFolder: nil)
            .withJournal(deadline: Deadline(after: .seconds(60))) { journal in
                let transaction = RunContext.drawTransaction()
                let identity = try #require(try folder.status(of: world.name)?.identity)
                try journal.append(
                    .begin(
                        JournalRecord.RunIdentity(
                            transaction: transaction,
                            old: world.restored,
                            oldIdentity: identity,
                            new: world.restored,
                            policy: .capture,
                            restores: ""
                        )
                    )
                )
                try journal.append(
                    .publishing(
                        JournalRecord.Publication(
                            main: world.stores.directory.status(of: world.name)?.identity ?? identity,
                            externalFiles: [:],
                            oldToken: folder.token(of: world.name),
                            digest: nil,
                            size: nil,
                            modified: nil
                        )
                    )
                )
                let aside = DisplacedFiles(for: transaction, in: folder)
                for name in [world.name, world.restored.supportFolderName] {
                    try aside.take(name, from: folder) { try journal.append(.aside($0)) }
                }
            }
        #expect(try folder.status(of: world.name) == nil)
        let status = try StoreMigrator(from: world.restored.url, to: world.restored.url).statusAndWait()
        #expect(status.run == .interrupted && status.next == .resume(old: world.restored.path))
        if isResumed {
            #expect(try Recovery(of: world.restored.url).resumeAndWait().outcome == .rolledBack)
            #expect(try world.place.everything().mapValues(\.bytes) == before)
        }
        let outcome = try world.restore(archive) { $0.overwrite = .always }
        #expect(outcome.outcome == .restored && outcome.keptAside != nil)
        #expect(try world.digest(of: world.restored) == world.digest(of: world.store))
    }

    @Test("A store whose reading is cancelled does not count as damaged")
    func cancelled() throws {
        let world = try RestoreWorld()
        for (folder, value) in [(world.stores, 1), (world.place, 2)] {
            try folder.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (\(value))", as: world.name)
        }
        let inspector = StoreInspector(depth: .digest)
        let backup = try #require(try inspector.inspect(world.store).inspection)
        let occupant = try #require(try inspector.inspect(world.restored).inspection)
        var options = RestoreOptions()
        options.overwrite = .always
        func decide(_ monitor: WorkMonitor) throws -> RestoreDecision {
            let surroundings = Surroundings(lockTimeout: .seconds(60), monitor: monitor)
            let gatherer = FactsGatherer(old: world.store, new: world.restored, surroundings: surroundings)
            return try RestoreJudge(backup: backup, place: world.restored, options: options, gatherer: gatherer)
                .decision(on: .store(occupant))
        }
        #expect(try decide(.silent) == .replace)
        let error = #expect(throws: StoreError.self) { try decide(WorkMonitor(isCancelled: { true })) }
        #expect(error?.code == .cancelled)
    }
}
