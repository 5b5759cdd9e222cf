import SafeFiles
import StoreBackup
import StoreFormat
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Retiring the old place", .serialized)
struct RetireTests {
    private static let modes = ["wal", "delete"]

    /// A shared store, and where its archive is to be.
    private func shared(mode: String) throws -> (places: Places, archive: StoreLocation) {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode=\(mode); CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)")
        try places.writeExternalFile("blob", 7, count: 1000, in: places.old)
        let transaction = try #require(try places.share().transaction)
        let folder = places.old.path + "/.store-migrate/store.sqlite"
        return (places, StoreLocation(folder: folder, name: "store.sqlite.retired-\(transaction).tar.zst"))
    }

    /// The name that the old store leaves its place under.
    private func retiredStore(_ places: Places, _ archive: StoreLocation) -> StoreLocation {
        places.old.location(archive.name.dropLast(".tar.zst".count) + ".sqlite")
    }

    /// The old store as a retirement leaves it that is killed before the rename; one that fails takes the seal off again.
    private func seal(_ places: Places) throws {
        try places.old.overwrite(places.name, at: 18, [3, 1])
    }

    private func retirement(
        of places: Places,
        lockTimeout: Duration = .seconds(60),
        backupFolder: String? = nil
    ) -> StoreRetirement {
        var options = ShareOptions()
        options.lockTimeout = lockTimeout
        options.backupFolder = backupFolder.map { StoreLocation(path: $0).url }
        return StoreRetirement(of: places.oldStore.url, options: options)
    }

    /// Nothing is left at the old place, and the archive holds the store with its external file, to be written to again.
    private func expectRetired(
        _ places: Places,
        _ archive: StoreLocation,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try places.old.directory.entries() == [".store-migrate"], sourceLocation: sourceLocation)
        #expect(try places.records().last == .removed, sourceLocation: sourceLocation)
        let unpacked = try BackupArchive(at: archive.url).unpacked()
        let external = try unpacked.folder.externalData(of: unpacked.location)
        #expect(try external?.entries() == ["blob"], sourceLocation: sourceLocation)
        #expect(
            try places.digest(of: unpacked.location) == places.digest(of: places.newStore),
            sourceLocation: sourceLocation
        )
        let plain = try StoreWriterProcess(unpacked.location.path)
        #expect(try plain.execute("PRAGMA integrity_check") == "value ok", sourceLocation: sourceLocation)
        #expect(try plain.execute("INSERT INTO t VALUES (3)") == "ok", sourceLocation: sourceLocation)
    }

    /// The old store as it is between the moment in which it left its name and its removal: sealed, under the new name.
    private func interruptedAfterRename(
        mode: String,
        isNoted: Bool = true
    ) throws -> (places: Places, archive: StoreLocation, retired: StoreLocation) {
        let (places, archive) = try shared(mode: mode)
        let retired = retiredStore(places, archive)
        try places.old.write(retired.name, [1])
        #expect(throws: MigrationError.self) { try retirement(of: places).retire() }
        try seal(places)
        try places.old.directory.removeFile(retired.name)
        let folder = places.old.directory
        try folder.move(places.name, to: retired.name, in: folder)
        guard isNoted else { return (places, archive, retired) }
        try folder.move(places.oldStore.supportFolderName, to: retired.supportFolderName, in: folder)
        var journal = try MigrationJournal(in: places.journalFolder())
        try journal.append(.retired(to: retired.name))
        return (places, archive, retired)
    }

    @Test("The store is archived with its external files, and removed; a second time does nothing", arguments: modes)
    func retires(mode: String) throws {
        let (places, archive) = try shared(mode: mode)
        let new = try places.container.everything()

        let outcome = try retirement(of: places).retire()

        #expect(outcome.outcome == .retired)
        #expect(outcome.old?.path == places.oldStore.path)
        #expect(outcome.findings.contains { $0.code == .backedUp && $0.path == archive.path })
        try expectRetired(places, archive)
        #expect(try places.container.everything() == new)
        let after = try places.old.everything()
        #expect(try retirement(of: places).retire().outcome == .retired)
        #expect(try places.old.everything().mapValues(\.bytes) == after.mapValues(\.bytes))
        let status = try places.migrator().status()
        #expect(status.run == .retired && status.archive == archive.path && status.next == nil)
        #expect(try places.share().outcome == .alreadyShared)
        #expect(try places.old.everything().mapValues(\.bytes) == after.mapValues(\.bytes))
        try expectRetired(places, archive)
    }

    @Test(
        "The archive goes to the folder that the caller names; what has its name there is looked at",
        arguments: modes
    )
    func namedFolder(mode: String) throws {
        let (places, archive) = try shared(mode: mode)
        let archives = try ScratchFolder()
        try archives.write(archive.name, [1, 2, 3])
        let before = try places.old.everything()["store.sqlite"]
        let error = #expect(throws: MigrationError.self) {
            try retirement(of: places, backupFolder: archives.path).retire()
        }
        #expect(error?.outcome == .needsDecision && error?.path == archives.location(archive.name).path)
        #expect(try places.old.everything()["store.sqlite"] == before)
        try archives.directory.removeFile(archive.name)

        #expect(try retirement(of: places, backupFolder: archives.path).retire().outcome == .retired)

        try expectRetired(places, archives.location(archive.name))
        #expect(try archives.directory.entries() == [archive.name])
    }

    @Test("Refused while a process has the store open, even an idle one", arguments: modes, ["idle", "reading"])
    func openElsewhere(mode: String, kind: String) throws {
        let (places, archive) = try shared(mode: mode)
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
        #expect(try places.old.everything().mapValues(\.bytes) == before.mapValues(\.bytes))
        #expect(try holder.execute("SELECT count(*) FROM t") == "value 2")
        #expect(try holder.execute("INSERT INTO t VALUES (3)").contains("store moved to"))
        #expect(holder.waitForExit() == 0)
        #expect(try retirement(of: places).retire().outcome == .retired)
        try expectRetired(places, archive)
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
        let (places, archive) = try shared(mode: mode)
        let retired = retiredStore(places, archive)
        // A file that has the new name stops the first run exactly there.
        try places.old.write(retired.name, [1])
        #expect(throws: MigrationError.self) { try retirement(of: places).retire() }
        try seal(places)
        #expect(try places.records().last == .retiring(to: retired.name))
        #expect(try places.old.bytes(retired.name) == [1])
        #expect(try places.digest(of: places.oldStore) == places.digest(of: places.newStore))
        let plain = try StoreWriterProcess(places.oldStore.path)
        for sql in ["INSERT INTO t VALUES (3)", "CREATE TABLE u (x)", "PRAGMA user_version=9", "DROP TABLE t"] {
            #expect(try plain.execute(sql).hasPrefix("error 8 "), "\(sql)")
        }
        #expect(plain.waitForExit() == 0)
        #expect(try places.share().outcome == .alreadyShared)
        #expect(try Recovery(of: places.oldStore.url).resume().outcome == .done)
        let holder = try StoreWriterProcess(places.oldStore.path)
        #expect(try holder.execute("SELECT count(*) FROM t") == "value 2")
        try places.old.directory.removeFile(retired.name)
        let error = #expect(throws: MigrationError.self) {
            try retirement(of: places, lockTimeout: .milliseconds(500)).retire()
        }
        #expect(error?.outcome == .busy)
        #expect(holder.waitForExit() == 0)

        #expect(try retirement(of: places).retire().outcome == .retired)

        try expectRetired(places, archive)
    }

    @Test("A log's index that SQLite could not remove with the log is removed")
    func indexLeft() throws {
        let (places, archive) = try shared(mode: "delete")
        try places.old.write("store.sqlite-shm", [UInt8](repeating: 0, count: 32_768))
        #expect(try retirement(of: places).retire().outcome == .retired)
        try expectRetired(places, archive)
    }

    @Test(
        "Interrupted after the rename, whoever comes next removes what the archive holds",
        arguments: modes,
        ["retire", "resume", "share", "not noted", "main file gone"]
    )
    func interruptedAfterRename(mode: String, kind: String) throws {
        let (places, archive, retired) = try interruptedAfterRename(mode: mode, isNoted: kind != "not noted")
        if kind == "main file gone" { try places.old.directory.removeFile(retired.name) }
        let status = try places.migrator().status()
        #expect(status.recovery != nil && status.next == .resume(old: places.oldStore.path))
        let abortion = #expect(throws: MigrationError.self) { try Recovery(of: places.oldStore.url).abort() }
        #expect(abortion?.outcome == .needsDecision)

        switch kind {
        case "retire": #expect(try retirement(of: places).retire().outcome == .retired)
        case "share": #expect(try places.share().outcome == .alreadyShared)
        default: #expect(try Recovery(of: places.oldStore.url).resume().outcome == .retired)
        }

        try expectRetired(places, archive)
        #expect(try places.migrator().status().next == nil)
    }

    @Test(
        "What is left is removed only while the archive is whole and holds it, and nobody has it open",
        arguments: ["archive damaged", "archive gone", "store differs", "another file", "open"]
    )
    func removalRefused(kind: String) throws {
        let (places, archive, retired) = try interruptedAfterRename(mode: "wal")
        let folder = try places.journalFolder()
        var holder: StoreWriterProcess?
        switch kind {
        case "archive damaged": try folder.openFile(archive.name, for: .writing).truncate(to: 100)
        case "archive gone": try folder.removeFile(archive.name)
        case "store differs": try places.writeExternalFile("other", 8, count: 10, in: places.old, of: retired)
        case "another file":
            try places.old.directory.move(retired.name, to: "elsewhere", in: places.old.directory)
            try places.old.write(retired.name, [1])
        default:
            holder = try StoreWriterProcess(retired.path)
            #expect(try holder?.execute("SELECT count(*) FROM t") == "value 2")
        }
        let before = try places.old.everything().filter { !$0.key.contains(".store-migrate") }.mapValues(\.bytes)

        let error = #expect(throws: MigrationError.self) {
            try retirement(of: places, lockTimeout: .milliseconds(500)).retire()
        }

        #expect(error?.outcome == (kind == "open" ? .busy : .needsDecision))
        #expect(
            try places.old.everything().filter { !$0.key.contains(".store-migrate") }.mapValues(\.bytes) == before
        )
        #expect(try places.share().outcome == .alreadyShared)
        guard let holder else { return }
        #expect(holder.waitForExit() == 0)
        #expect(try retirement(of: places).retire().outcome == .retired)
        try expectRetired(places, archive)
    }

    @Test("A new store at the old place is not taken for the retired one", arguments: modes)
    func resurrected(mode: String) throws {
        let (places, archive) = try shared(mode: mode)
        try retirement(of: places).retire()
        try places.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (7)")
        let new = try places.digest(of: places.newStore)

        let outcome = try places.share()

        #expect(outcome.outcome.exitStatus == 4, "\(outcome.outcome)")
        #expect(try places.digest(of: places.newStore) == new)
        #expect(try places.count("SELECT x FROM t", in: places.oldStore) == 7)
        #expect(try BackupArchive(at: archive.url).check().store.digest == new)
    }
}
