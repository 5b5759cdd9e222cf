import SafeFiles
import StoreFormat
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Retiring the old place", .serialized)
struct RetireTests {
    private static let modes = ["wal", "delete"]

    private func shared(mode: String) throws -> (places: Places, retired: StoreLocation) {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode=\(mode); CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)")
        try places.writeExternalFile("blob", 7, count: 1000, in: places.old)
        let transaction = try #require(try places.share().transaction)
        return (places, places.old.location("store.sqlite.retired-\(transaction)"))
    }

    private func retirement(of places: Places, lockTimeout: Duration = .seconds(60)) -> StoreRetirement {
        var options = ShareOptions()
        options.lockTimeout = lockTimeout
        return StoreRetirement(of: places.oldStore.url, options: options)
    }

    /// The old place holds the sealed store under its new name, whole, and nothing under the old name.
    private func expectRetired(
        _ places: Places,
        _ retired: StoreLocation,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let left = try Set(places.old.directory.entries())
        #expect(
            left == [".store-migrate", retired.name, retired.supportFolderName],
            sourceLocation: sourceLocation
        )
        let external = try places.old.directory.externalData(of: retired)
        #expect(try external?.entries() == ["blob"], sourceLocation: sourceLocation)
        #expect(try places.digest(of: retired) == places.digest(of: places.newStore), sourceLocation: sourceLocation)
        let plain = try StoreWriterProcess(retired.path)
        #expect(try plain.execute("SELECT count(*) FROM t") == "value 2", sourceLocation: sourceLocation)
        #expect(try plain.execute("PRAGMA integrity_check") == "value ok", sourceLocation: sourceLocation)
        for sql in [
            "INSERT INTO t VALUES (3)", "CREATE TABLE u (x)", "PRAGMA user_version=9", "DROP TABLE t",
        ] {
            #expect(try plain.execute(sql).hasPrefix("error 8 "), "\(sql)", sourceLocation: sourceLocation)
        }
    }

    @Test(
        "The store is sealed, renamed with its external files, and kept; a second time does nothing",
        arguments: modes
    )
    func retires(mode: String) throws {
        let (places, retired) = try shared(mode: mode)
        let new = try places.container.everything()

        let outcome = try retirement(of: places).retire()

        #expect(outcome.outcome == .retired)
        #expect(outcome.old?.path == retired.path)
        try expectRetired(places, retired)
        #expect(try places.container.everything() == new)
        let after = try places.old.everything()
        #expect(try retirement(of: places).retire().outcome == .retired)
        #expect(try places.old.everything().mapValues(\.bytes) == after.mapValues(\.bytes))
        #expect(try places.migrator().status().run == .retired)
        #expect(try places.share().outcome == .alreadyShared)
        #expect(try places.old.everything().mapValues(\.bytes) == after.mapValues(\.bytes))
        try expectRetired(places, retired)
    }

    @Test("Refused while a process has the store open, even an idle one", arguments: modes, ["idle", "reading"])
    func openElsewhere(mode: String, kind: String) throws {
        let (places, retired) = try shared(mode: mode)
        let holder = try StoreWriterProcess(places.oldStore.path)
        if kind == "reading" {
            #expect(try holder.execute("BEGIN") == "ok")
            #expect(try holder.execute("SELECT count(*) FROM t") == "value 2")
        }
        let before = try places.old.everything()

        let error = #expect(throws: MigrationError.self) {
            try retirement(of: places, lockTimeout: .milliseconds(500)).retire()
        }

        #expect(error?.outcome == .busy)
        #expect(try places.old.everything()["store.sqlite"] == before["store.sqlite"])
        #expect(try holder.execute("SELECT count(*) FROM t") == "value 2")
        #expect(try holder.execute("INSERT INTO t VALUES (3)").contains("store moved to"))
        #expect(holder.waitForExit() == 0)
        #expect(try retirement(of: places).retire().outcome == .retired)
        try expectRetired(places, retired)
    }

    @Test("Refused after a late write, which stays where it is", arguments: modes)
    func lateWrite(mode: String) throws {
        let (places, _) = try shared(mode: mode)
        let writer = try StoreWriterProcess(places.oldStore.path)
        #expect(try writer.execute("CREATE TABLE late (x)") == "ok")
        #expect(writer.waitForExit() == 0)
        for _ in 1...2 {
            let error = #expect(throws: MigrationError.self) { try retirement(of: places).retire() }
            #expect(error?.outcome == .lateWrites)
            #expect(error?.outcome.exitStatus == 4)
            #expect(
                try places.count("SELECT count(*) FROM sqlite_schema WHERE name = 'late'", in: places.oldStore) == 1
            )
            #expect(try places.isFenced(places.oldStore))
        }
        let writeAgain = try StoreWriterProcess(places.oldStore.path)
        #expect(try writeAgain.execute("INSERT INTO late VALUES (1)") == "ok", "the file was sealed")
    }

    @Test(
        "Refused when the new store is gone, is another, or fails its proof",
        arguments: ["gone", "another", "broken"]
    )
    func newStoreTroubles(kind: String) throws {
        let (places, _) = try shared(mode: "wal")
        switch kind {
        case "gone": try places.container.directory.removeFile(places.name)
        case "another":
            try places.container.directory.removeFile(places.name)
            try places.container.directory.removeFile(RecordedContent.receiptName(for: places.name))
            try places.container.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)", as: places.name)
        default: try places.container.overwrite(places.name, at: 4096, [UInt8](repeating: 0xFF, count: 4096))
        }
        let before = try places.old.everything()

        let error = #expect(throws: MigrationError.self) { try retirement(of: places).retire() }

        #expect(error.map { [4, 5, 12].contains($0.outcome.exitStatus) } == true, "\(String(describing: error))")
        #expect(try places.old.everything()["store.sqlite"] == before["store.sqlite"])
    }

    @Test("A store that no run has shared is not retired, and nothing is left behind")
    func notShared() throws {
        let places = try Places()
        try places.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        let before = try World(places)

        let error = #expect(throws: MigrationError.self) { try retirement(of: places).retire() }

        #expect(error?.outcome == .needsDecision)
        #expect(try World(places) == before)
    }

    @Test("Interrupted between the seal and the rename, it goes on", arguments: modes)
    func interruptedAfterSeal(mode: String) throws {
        let (places, retired) = try shared(mode: mode)
        // A file that has the new name stops the first run exactly there.
        try places.old.write(retired.name, [1])
        #expect(throws: MigrationError.self) { try retirement(of: places).retire() }
        #expect(try places.records().last == .retiring(to: retired.name))
        #expect(try places.old.bytes(retired.name) == [1])
        #expect(try places.digest(of: places.oldStore) == places.digest(of: places.newStore))
        #expect(try places.share().outcome == .alreadyShared)
        let holder = try StoreWriterProcess(places.oldStore.path)
        #expect(try holder.execute("SELECT count(*) FROM t") == "value 2")
        try places.old.directory.removeFile(retired.name)
        let error = #expect(throws: MigrationError.self) {
            try retirement(of: places, lockTimeout: .milliseconds(500)).retire()
        }
        #expect(error?.outcome == .busy)
        #expect(holder.waitForExit() == 0)

        #expect(try retirement(of: places).retire().outcome == .retired)

        try expectRetired(places, retired)
    }

    @Test("Interrupted after the rename, it goes on", arguments: modes, ["external files left", "all moved"])
    func interruptedAfterRename(mode: String, kind: String) throws {
        let (places, retired) = try shared(mode: mode)
        try retirement(of: places).retire()
        let records = try places.records().dropLast()
        let folder = try places.journalFolder()
        try folder.removeFile(MigrationJournal.name)
        var journal = try MigrationJournal(in: folder)
        for record in records { try journal.append(record) }
        if kind == "external files left" {
            try places.old.directory.move(
                retired.supportFolderName,
                to: places.oldStore.supportFolderName,
                in: places.old.directory
            )
        }

        #expect(try retirement(of: places).retire().outcome == .retired)

        try expectRetired(places, retired)
        #expect(try places.records().last == .retired(to: retired.name))
    }

    @Test("A new store at the old place is not taken for the retired one", arguments: modes)
    func resurrected(mode: String) throws {
        let (places, retired) = try shared(mode: mode)
        try retirement(of: places).retire()
        try places.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (7)")
        let new = try places.digest(of: places.newStore)

        let outcome = try places.share()

        #expect(outcome.outcome.exitStatus == 4, "\(outcome.outcome)")
        #expect(try places.digest(of: places.newStore) == new)
        #expect(try places.count("SELECT x FROM t", in: places.oldStore) == 7)
        #expect(try places.digest(of: retired) == new)
    }
}
