import FoundationEssentials
import Glibc
import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

/// Actions of other processes between two steps of a share; reported progress identifies the steps.
@Suite("Concurrent changes during a share")
struct MeanwhileTests {
    private static let table = "CREATE TABLE t (x); INSERT INTO t VALUES ('early'), ('early')"
    private static let journalModes = ["wal", "delete"]

    @Test("A write between the lock and the end of a capture is late, never counted as shared", arguments: journalModes)
    func writtenBeforeTheEnd(mode: String) throws {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode=\(mode);" + Self.table)
        let capture: (inout ShareOptions) -> Void = { $0.oldStore = .capture }

        let outcome = try places.share(capture) { progress in
            guard progress.phase == .publishing, progress.done == 1 else { return }
            Self.write("INSERT INTO t VALUES ('late')", to: places.oldStore)
        }

        #expect(outcome.outcome == .shared)
        #expect(outcome.old?.objects == 2)
        #expect(try places.count("SELECT count(*) FROM t", in: places.newStore) == 2)
        #expect(try places.count("SELECT count(*) FROM t", in: places.oldStore) == 3)
        #expect(try places.migrator(capture).statusAndWait().lateWrites == .found)
        #expect(try places.share(capture).outcome == .merged)
        #expect(try places.count("SELECT count(*) FROM t", in: places.newStore) == 3)
    }

    @Test(
        "A write between the proof and the lock is carried, and the copy is proved again",
        arguments: journalModes,
        ShareOptions.OldStorePolicy.allCases
    )
    func writtenAfterTheProof(mode: String, policy: ShareOptions.OldStorePolicy) throws {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode=\(mode);" + Self.table)

        let write: @Sendable (StoreProgress) -> Void = { progress in
            guard progress.phase == .publishing, progress.done == 0 else { return }
            Self.write("INSERT INTO t VALUES ('in time')", to: places.oldStore)
        }
        let outcome = try places.share({ $0.oldStore = policy }, onProgress: write)

        #expect(outcome.outcome == .shared)
        #expect(outcome.new?.objects == 3)
        #expect(try outcome.new?.digest == places.digest(of: places.newStore))
        #expect(try places.digest(of: places.newStore) == places.digest(of: places.oldStore))
        #expect(try places.share { $0.oldStore = policy }.outcome == .alreadyShared)
        try places.expectTidy()
    }

    @Test("A write to the published store before its comparison is a finding, not a failure", arguments: journalModes)
    func newStoreWritten(mode: String) throws {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode=\(mode);" + Self.table)
        let digest = try places.digest(of: places.oldStore)

        let outcome = try places.share(onProgress: { progress in
            guard progress.phase == .publishing else { return }
            if progress.done == 0 {
                // Without a change after the proof, nothing would remain to compare.
                Self.write("INSERT INTO t VALUES ('in time'); DELETE FROM t WHERE x = 'in time'", to: places.oldStore)
            } else {
                Self.write("INSERT INTO t VALUES ('consumer')", to: places.newStore)
            }
        })

        #expect(outcome.outcome == .shared)
        #expect(outcome.findings.contains { $0.code == .writtenWhileProving })
        #expect(outcome.new?.digest == digest)
        #expect(try places.count("SELECT count(*) FROM t", in: places.newStore) == 3)
        #expect(try places.share().outcome == .alreadyShared)
    }

    @Test("A commit frame that is missing from the log's index is not shared", arguments: [1, 3])
    func unindexedCommit(commits: Int) throws {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode=wal;" + Self.table)
        let writer = try StoreWriterProcess(places.oldStore.path)
        #expect(try writer.execute("INSERT INTO t VALUES ('told')") == "ok")
        // The state after a writer's death between its commit frame and the update of the index that readers use.
        let index = places.name + "-shm"
        let header = Array(try places.old.bytes(index).prefix(96))
        for _ in 1...commits { #expect(try writer.execute("INSERT INTO t VALUES ('untold')") == "ok") }
        try places.old.overwrite(index, at: 0, header)

        #expect(try places.share().outcome == .shared)

        #expect(try places.count("SELECT count(*) FROM t", in: places.newStore) == 3)
        #expect(try places.count("SELECT count(*) FROM t WHERE x = 'untold'", in: places.newStore) == 0)
        #expect(try places.share().outcome == .alreadyShared)
    }

    @Test(
        "External files added, changed and removed during the copy or the proof are shared in their last state",
        arguments: [StoreProgress.Phase.copying, .proving]
    )
    func externalFiles(during phase: StoreProgress.Phase) throws {
        let places = try Places(fixture: "clean")
        for name in ["STAYS", "CHANGES", "GOES"] {
            try places.writeExternalFile(name, 1, count: 5000, in: places.old)
        }
        let once = Once()

        let outcome = try places.share(onProgress: { progress in
            guard progress.phase == phase, once.isFirst(),
                let folder = try? places.old.directory.externalData(of: places.oldStore)
            else { return }
            try? folder.removeFile("GOES")
            try? folder.removeFile("CHANGES")
            try? places.writeExternalFile("CHANGES", 2, count: 5000, in: places.old)
            try? places.writeExternalFile("COMES", 3, count: 5000, in: places.old)
        })

        #expect(outcome.outcome == .shared)
        #expect(
            try places.externalFiles(in: places.container.directory) == ["STAYS": 1, "CHANGES": 2, "COMES": 3]
        )
        #expect(try places.share().outcome == .alreadyShared)
        try places.expectTidy()
    }

    @Test(
        "A plain store that replaces the old one during the copy is neither fenced nor counted as shared",
        arguments: journalModes,
        ShareOptions.OldStorePolicy.allCases
    )
    func replacedWhileCopied(mode: String, policy: ShareOptions.OldStorePolicy) throws {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode=\(mode);" + Self.table)
        try places.old.makeStore("PRAGMA journal_mode=\(mode); CREATE TABLE t (x)", as: "backup.sqlite")
        let once = Once()

        let error = #expect(throws: MigrationError.self) {
            try places.share(
                { $0.oldStore = policy },
                onProgress: { progress in
                    guard progress.phase == .publishing, progress.done == 0, once.isFirst() else { return }
                    let folder = places.old.directory
                    for name in [places.name + "-wal", places.name + "-shm"] { try? folder.removeFile(name) }
                    #expect(rename(folder.path + "/backup.sqlite", places.oldStore.path) == 0)
                }
            )
        }

        #expect(error?.outcome == .busy)
        #expect(error?.path == places.oldStore.path)
        #expect(try places.container.directory.entries().isEmpty)
        #expect(try !places.isFenced(places.oldStore))
        #expect(try places.count("SELECT count(*) FROM t", in: places.oldStore) == 0)
        #expect(try places.migrator().statusAndWait().run != .interrupted)
    }

    @Test("A destination that appears and disappears at every attempt ends the run as busy")
    func restlessDestination() throws {
        let places = try Places()
        try places.old.makeStore(Self.table)

        let error = #expect(throws: MigrationError.self) {
            try places.migrator(onProgress: { progress in
                guard progress.phase == .publishing, progress.done == 0 else { return }
                try? places.container.write(places.name, [])
            })
            .shareStoreIfNecessaryAndWait(isCancelled: {
                if (try? places.records().last) == .rolledBack {
                    try? places.container.directory.removeFile(places.name)
                }
                return false
            })
        }

        #expect(error?.outcome == .busy)
        #expect(error?.path == places.newStore.path)
        #expect(try !places.isFenced(places.oldStore))
    }

    @Test("A folder among the external files stops the share before it writes anything")
    func folderAmongExternalFiles() throws {
        let places = try Places(fixture: "clean")
        try places.writeExternalFile("FILE", 1, count: 5000, in: places.old)
        let folder = try #require(try places.old.directory.externalData(of: places.oldStore))
        _ = try folder.createDirectory("FOLDER", mode: 0o755)

        let error = #expect(throws: MigrationError.self) { try places.share() }

        #expect(error?.outcome == .foundButUnreadable)
        #expect(error?.path.hasSuffix("/FOLDER") == true)
        #expect(try places.container.directory.entries().isEmpty)
        #expect(try !places.old.directory.entries().contains(".store-migrate"))
    }

    /// Writes like another process, and closes the store.
    private static func write(_ sql: String, to store: StoreLocation) {
        do {
            let writer = try StoreWriterProcess(store.path)
            for statement in sql.split(separator: ";") { #expect(try writer.execute(String(statement)) == "ok") }
            #expect(writer.waitForExit() == 0)
        } catch {
            Issue.record(error)
        }
    }
}
