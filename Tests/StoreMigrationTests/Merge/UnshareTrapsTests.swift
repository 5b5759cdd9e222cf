import FoundationEssentials
import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Writes to the old store during an unshare")
struct UnshareTrapsTests {
    private static let modes = ["wal", "delete"]

    /// A captured store: its writers continue.
    private func captured(mode: String = "wal") throws -> Places {
        let places = try Places()
        try places.old.makeStore(
            "PRAGMA journal_mode=\(mode); CREATE TABLE t (id INTEGER PRIMARY KEY, x); INSERT INTO t VALUES (1, 'early')"
        )
        try places.share { $0.oldStore = .capture }
        return places
    }

    private func unsharing(
        _ places: Places,
        lockTimeout: Duration = .seconds(60),
        onProgress: (@Sendable (StoreProgress) -> Void)? = nil
    ) -> StoreUnsharing {
        var options = ShareOptions()
        options.lockTimeout = lockTimeout
        return StoreUnsharing(places.oldStore.url, from: places.newStore.url, options: options, onProgress: onProgress)
    }

    private static func write(_ sql: String, to store: StoreLocation) {
        do {
            let writer = try StoreWriterProcess(store.path)
            #expect(try writer.execute(sql) == "ok")
            #expect(writer.waitForExit() == 0)
        } catch {
            Issue.record(error)
        }
    }

    @Test("A write during the copy back ends the unshare, and the next one merges it first", arguments: modes)
    func writtenMeanwhile(mode: String) throws {
        let places = try captured(mode: mode)
        Self.write("INSERT INTO t VALUES (2, 'new')", to: places.newStore)
        let late = Once()

        let error = #expect(throws: MigrationError.self) {
            try unsharing(places) { progress in
                guard progress.phase == .publishing, progress.done == 0, late.isFirst() else { return }
                Self.write("INSERT INTO t VALUES (3, 'late')", to: places.oldStore)
            }
            .unshareAndWait()
        }

        #expect(error?.outcome == .busy)
        #expect(error?.next == .unshare(old: places.oldStore.path, new: places.newStore.path))
        #expect(try places.rows(of: places.oldStore) == ["early", "late"])
        #expect(try !places.isFenced(places.newStore))
        #expect(try places.migrator().statusAndWait().run == .shared)
        #expect(try unsharing(places).unshareAndWait().outcome == .unshared)
        #expect(try places.rows(of: places.oldStore) == ["early", "late", "new"])
    }

    @Test("Leftovers that cannot be removed are warnings, and the unshare is complete")
    func leftovers() throws {
        let places = try captured()
        let wake = places.newStore.wakeName
        if try places.container.directory.status(of: wake) != nil { try places.container.directory.removeFile(wake) }
        _ = try places.container.directory.createDirectory(wake, mode: 0o755)
        let base = CapturedBase.name(of: "0")
        _ = try places.journalFolder().createDirectory(base, mode: 0o755)

        let outcome = try unsharing(places).unshareAndWait()

        #expect(outcome.outcome == .unshared)
        #expect(outcome.findings.filter { $0.code == .leftoverKept }.map(\.severity) == [.warning, .warning])
        #expect(try places.rows(of: places.oldStore) == ["early"])
        #expect(try places.container.directory.status(of: places.name) == nil)
        #expect(try places.migrator().statusAndWait().run == .unshared)
    }

    @Test("A failure after the old store has the content, or after the rename, is an interruption")
    func failureAfterwards() throws {
        let (old, new) = (StoreLocation(path: "/o/s"), StoreLocation(path: "/n/s"))
        let cause = FileError(operation: "remove", path: "/n/x", refusal: .wrongKind(.directory))
        let surroundings = ShareOptions().surroundings(.silent, nil)
        let run = UnshareRun(old: old, new: new, options: ShareOptions(), surroundings: surroundings)
        let first = #expect(throws: MigrationError.self) { try run.afterBringingBack { throw cause } }
        #expect(first?.outcome == .interrupted && first?.next == .unshare(old: old.path, new: new.path))
        let retirement = RetireRun(old: new, ShareOptions(), surroundings)
        let second = #expect(throws: MigrationError.self) { try retirement.afterRenaming(to: "r") { throw cause } }
        #expect(second?.outcome == .interrupted)
        for error in [first, second] { #expect(error?.advice.contains("Nothing was changed") == false) }
    }

    @Test("A write after an interruption ends the next unshare, and the one after merges it first", arguments: modes)
    func writtenBeforeGoingOn(mode: String) throws {
        let places = try captured(mode: mode)
        try StateFolder(of: places.oldStore, stateFolder: nil)
            .withJournal(deadline: Deadline(after: .seconds(60))) {
                try $0.append(.unsharing(transaction: RunContext.drawTransaction()))
            }
        Self.write("INSERT INTO t VALUES (3, 'late')", to: places.oldStore)

        let error = #expect(throws: MigrationError.self) { try unsharing(places).unshareAndWait() }

        #expect(error?.outcome == .busy)
        #expect(try places.rows(of: places.oldStore) == ["early", "late"])
        #expect(try unsharing(places).unshareAndWait().outcome == .unshared)
        #expect(try places.rows(of: places.oldStore) == ["early", "late"])
    }

    @Test("unshare does not replace a new store at the retired store's path")
    func resurrected() throws {
        let places = try captured()
        try StoreRetirement(of: places.oldStore.url).retireAndWait()
        try places.old.makeStore("CREATE TABLE t (id INTEGER PRIMARY KEY, x); INSERT INTO t VALUES (1, 'another')")

        let error = #expect(throws: MigrationError.self) { try unsharing(places).unshareAndWait() }

        #expect(error?.outcome == .needsDecision)
        #expect(try places.rows(of: places.oldStore) == ["another"])
        #expect(try places.migrator().statusAndWait().run == .retired)
        try places.old.directory.removeFile(places.name)
        #expect(try unsharing(places).unshareAndWait().outcome == .unshared)
        #expect(try places.rows(of: places.oldStore) == ["early"])
    }

    @Test("A reverted write during an unshare is no late write")
    func sameContent() throws {
        let places = try captured()
        let app = try StoreWriterProcess(places.oldStore.path)
        #expect(try app.execute("INSERT INTO t VALUES (2, 'logged')") == "ok")
        let state = places.oldStore

        let outcome = try unsharing(places) { progress in
            guard progress.phase == .publishing, progress.done == 0 else { return }
            Self.write("CREATE TABLE gone (x)", to: state)
            Self.write("DROP TABLE gone", to: state)
        }
        .unshareAndWait()

        #expect(outcome.outcome == .unshared)
        #expect(app.waitForExit() == 0)
        #expect(try places.rows(of: places.oldStore) == ["early", "logged"])
    }

    @Test("A finished copy back is not repeated when the journal beside the new store is lost")
    func journalGone() throws {
        let world = try MergeWorld()
        let places = world.places
        try places.share { $0.level = .coredata }
        let reader = try StoreWriterProcess(places.newStore.path)
        #expect(try reader.execute("SELECT count(*) FROM ZHABIT") == "value 2")
        #expect(
            try unsharing(places, lockTimeout: .seconds(1)).unshareAndWait().findings
                .contains { $0.code == .notWithdrawn }
        )
        try world.add(3, "after", to: places.oldStore)
        let journal = try places.container.directory.openDirectory(StateFolder.name)
        try DisplacedFiles.removeContents(of: journal)
        try places.container.directory.removeDirectory(StateFolder.name)
        let expected = ["1 Run -: 1 2", "2 Read -:", "3 after : 3"]

        // The new store is still open, so it is not renamed again.
        #expect(
            try unsharing(places, lockTimeout: .seconds(1)).unshareAndWait().findings
                .contains { $0.code == .notWithdrawn }
        )
        #expect(try world.content(of: places.oldStore) == expected)
        #expect(reader.waitForExit() == 0)

        #expect(try unsharing(places).unshareAndWait().outcome == .unshared)
        #expect(try world.content(of: places.oldStore) == expected)
        #expect(try places.container.directory.status(of: places.name) == nil)
        #expect(try places.share { $0.level = .coredata }.outcome == .shared)
        #expect(try world.content(of: places.newStore) == expected)
    }

    @Test("Each withdrawn store keeps its own external files")
    func externalFiles() throws {
        let places = try captured()
        func withdraw() throws -> StoreLocation {
            let path = try #require(try unsharing(places).unshareAndWait().new?.path)
            return StoreLocation(path: path)
        }
        try places.writeExternalFile("one", 1, count: 10, in: places.container)
        let first = try withdraw()
        try places.share()
        try places.writeExternalFile("two", 2, count: 10, in: places.container)
        let second = try withdraw()

        let container = places.container.directory
        #expect(try container.externalData(of: first)?.entries() == ["one"])
        #expect(try container.externalData(of: second).map { try Set($0.entries()) } == ["one", "two"])
        #expect(try container.status(of: places.newStore.supportFolderName) == nil)
    }

    @Test("unshare is refused, without changes, while another store uses the same external-file folder")
    func sharedSupportFolder() throws {
        let places = try captured()
        try places.writeExternalFile("blob", 1, count: 10, in: places.container)
        let other = try places.container.makeStore("CREATE TABLE t (x)", as: "store.store")
        let before = try World(places)

        let error = #expect(throws: MigrationError.self) { try unsharing(places).unshareAndWait() }

        #expect(error?.outcome == .needsDecision)
        #expect(error?.message.contains(other.name) == true)
        #expect(try World(places) == before)
    }
}
