import SafeFiles
import StoreAccess
import StoreBackup
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Retiring the old store", .serialized)
struct RetireTests {
    private static let modes = ["wal", "delete"]

    /// A shared store, and the expected location of its archive.
    private func shared(mode: String) throws -> (places: Places, archive: StoreLocation) {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode=\(mode); CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)")
        try places.writeExternalFile("blob", 7, count: 1000, in: places.old)
        let transaction = try #require(try places.share().transaction)
        let folder = places.old.path + "/.store-migrate/store.sqlite"
        return (places, StoreLocation(folder: folder, name: "store.sqlite.retired-\(transaction).tar.zst"))
    }

    /// The name that the old store gets when it is retired.
    private func retiredStore(_ places: Places, _ archive: StoreLocation) -> StoreLocation {
        places.old.location(archive.name.dropLast(".tar.zst".count) + ".sqlite")
    }

    /// The old store after a retirement that is killed before the rename; a failing one would remove the read-only
    /// marker.
    private func markReadOnly(_ places: Places) throws {
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

    /// Expects that nothing remains at the old path, and that the archive has a writable store with its external file.
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

    /// The old store between its rename and its removal: read-only, under the new name.
    private func interruptedAfterRename(
        mode: String,
        isNoted: Bool = true
    ) throws -> (places: Places, archive: StoreLocation, retired: StoreLocation) {
        let (places, archive) = try shared(mode: mode)
        let retired = retiredStore(places, archive)
        try places.old.write(retired.name, [1])
        #expect(throws: MigrationError.self) { try retirement(of: places).retireAndWait() }
        try markReadOnly(places)
        try places.old.directory.removeFile(retired.name)
        let folder = places.old.directory
        try folder.move(places.name, to: retired.name, in: folder)
        guard isNoted else { return (places, archive, retired) }
        try folder.move(places.oldStore.supportFolderName, to: retired.supportFolderName, in: folder)
        var journal = try MigrationJournal(in: places.journalFolder())
        try journal.append(.retired(to: retired.name))
        return (places, archive, retired)
    }

    @Test(
        "retire archives a store with its external files and removes it; a second retire does nothing",
        arguments: modes
    )
    func retires(mode: String) throws {
        let (places, archive) = try shared(mode: mode)
        let new = try places.container.everything()

        let outcome = try retirement(of: places).retireAndWait()

        #expect(outcome.outcome == .retired)
        #expect(outcome.old?.path == places.oldStore.path)
        #expect(outcome.findings.contains { $0.code == .backedUp && $0.path == archive.path })
        try expectRetired(places, archive)
        #expect(try places.container.everything() == new)
        let after = try places.old.everything()
        #expect(try retirement(of: places).retireAndWait().outcome == .retired)
        #expect(try places.old.everything().mapValues(\.bytes) == after.mapValues(\.bytes))
        let status = try places.migrator().statusAndWait()
        #expect(status.run == .retired && status.archive == archive.path && status.next == nil)
        #expect(try places.share().outcome == .alreadyShared)
        #expect(try places.old.everything().mapValues(\.bytes) == after.mapValues(\.bytes))
        try expectRetired(places, archive)
    }

    @Test(
        "retire writes the archive to the named folder; another file of that name needs a decision",
        arguments: modes
    )
    func namedFolder(mode: String) throws {
        let (places, archive) = try shared(mode: mode)
        let archives = try ScratchFolder()
        try archives.write(archive.name, [1, 2, 3])
        let before = try places.old.everything()["store.sqlite"]
        let error = #expect(throws: MigrationError.self) {
            try retirement(of: places, backupFolder: archives.path).retireAndWait()
        }
        #expect(error?.outcome == .needsDecision && error?.path == archives.location(archive.name).path)
        #expect(try places.old.everything()["store.sqlite"] == before)
        try archives.directory.removeFile(archive.name)

        #expect(try retirement(of: places, backupFolder: archives.path).retireAndWait().outcome == .retired)

        try expectRetired(places, archives.location(archive.name))
        #expect(try archives.directory.entries() == [archive.name])
    }

    @Test(
        "retire is refused while a process has the store open, even an idle one",
        arguments: modes,
        ["idle", "reading"]
    )
    func openElsewhere(mode: String, kind: String) throws {
        let (places, archive) = try shared(mode: mode)
        let holder = try StoreWriterProcess(places.oldStore.path)
        if kind == "reading" {
            #expect(try holder.execute("BEGIN") == "ok")
            #expect(try holder.execute("SELECT count(*) FROM t") == "value 2")
        }
        let before = try places.old.everything()

        let error = #expect(throws: MigrationError.self) {
            try retirement(of: places, lockTimeout: .milliseconds(500)).retireAndWait()
        }

        #expect(error?.outcome == .busy)
        #expect(try places.old.everything().mapValues(\.bytes) == before.mapValues(\.bytes))
        #expect(try holder.execute("SELECT count(*) FROM t") == "value 2")
        #expect(try holder.execute("INSERT INTO t VALUES (3)").contains("store moved to"))
        #expect(holder.waitForExit() == 0)
        #expect(try retirement(of: places).retireAndWait().outcome == .retired)
        try expectRetired(places, archive)
    }

    @Test("retire is refused after a late write, which stays in the old store", arguments: modes)
    func lateWrite(mode: String) throws {
        let (places, _) = try shared(mode: mode)
        let writer = try StoreWriterProcess(places.oldStore.path)
        #expect(try writer.execute("CREATE TABLE late (x)") == "ok")
        #expect(writer.waitForExit() == 0)
        for _ in 1...2 {
            let error = #expect(throws: MigrationError.self) { try retirement(of: places).retireAndWait() }
            #expect(error?.outcome == .lateWrites)
            #expect(error?.outcome.exitStatus == 4)
            #expect(
                try places.count("SELECT count(*) FROM sqlite_schema WHERE name = 'late'", in: places.oldStore) == 1
            )
            #expect(try places.isFenced(places.oldStore))
        }
        let writeAgain = try StoreWriterProcess(places.oldStore.path)
        #expect(try writeAgain.execute("INSERT INTO late VALUES (1)") == "ok", "the file was marked")
    }

    @Test(
        "retire is refused when the new store is missing, is another, or fails its proof",
        arguments: ["gone", "another", "broken"]
    )
    func newStoreTroubles(kind: String) throws {
        let (places, _) = try shared(mode: "wal")
        switch kind {
        case "gone": try places.container.directory.removeFile(places.name)
        case "another":
            try places.container.directory.removeFile(places.name)
            try places.container.directory.removeFile(ReceiptFile.receiptName(for: places.name))
            try places.container.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)", as: places.name)
        default: try places.container.overwrite(places.name, at: 4096, [UInt8](repeating: 0xFF, count: 4096))
        }
        let before = try places.old.everything()

        let error = #expect(throws: MigrationError.self) { try retirement(of: places).retireAndWait() }

        #expect(error.map { [4, 5, 12].contains($0.outcome.exitStatus) } == true, "\(String(describing: error))")
        #expect(try places.old.everything()["store.sqlite"] == before["store.sqlite"])
    }

    @Test("A store that was never shared is not retired, and no files remain")
    func notShared() throws {
        let places = try Places()
        try places.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        let before = try World(places)

        let error = #expect(throws: MigrationError.self) { try retirement(of: places).retireAndWait() }

        #expect(error?.outcome == .needsDecision)
        #expect(try World(places) == before)
    }

    @Test("A retirement interrupted between marker and rename is finished by the next one", arguments: modes)
    func interruptedAfterMarking(mode: String) throws {
        let (places, archive) = try shared(mode: mode)
        let retired = retiredStore(places, archive)
        // A file with the new name stops the first run at exactly this point.
        try places.old.write(retired.name, [1])
        #expect(throws: MigrationError.self) { try retirement(of: places).retireAndWait() }
        try markReadOnly(places)
        #expect(try places.records().last == .retiring(to: retired.name))
        #expect(try places.old.bytes(retired.name) == [1])
        #expect(try places.digest(of: places.oldStore) == places.digest(of: places.newStore))
        let plain = try StoreWriterProcess(places.oldStore.path)
        for sql in ["INSERT INTO t VALUES (3)", "CREATE TABLE u (x)", "PRAGMA user_version=9", "DROP TABLE t"] {
            #expect(try plain.execute(sql).hasPrefix("error 8 "), "\(sql)")
        }
        #expect(plain.waitForExit() == 0)
        #expect(try places.share().outcome == .alreadyShared)
        #expect(try Recovery(of: places.oldStore.url).resumeAndWait().outcome == .done)
        let holder = try StoreWriterProcess(places.oldStore.path)
        #expect(try holder.execute("SELECT count(*) FROM t") == "value 2")
        try places.old.directory.removeFile(retired.name)
        let error = #expect(throws: MigrationError.self) {
            try retirement(of: places, lockTimeout: .milliseconds(500)).retireAndWait()
        }
        #expect(error?.outcome == .busy)
        #expect(holder.waitForExit() == 0)

        #expect(try retirement(of: places).retireAndWait().outcome == .retired)

        try expectRetired(places, archive)
    }

    @Test("retire removes a shared-memory file that SQLite failed to remove with the log")
    func indexLeft() throws {
        let (places, archive) = try shared(mode: "delete")
        try places.old.write("store.sqlite-shm", [UInt8](repeating: 0, count: 32_768))
        #expect(try retirement(of: places).retireAndWait().outcome == .retired)
        try expectRetired(places, archive)
    }

    @Test(
        "After an interruption past the rename, the next command removes the archived store",
        arguments: modes,
        ["retire", "resume", "share", "not noted", "main file gone"]
    )
    func interruptedAfterRename(mode: String, kind: String) throws {
        let (places, archive, retired) = try interruptedAfterRename(mode: mode, isNoted: kind != "not noted")
        if kind == "main file gone" { try places.old.directory.removeFile(retired.name) }
        let status = try places.migrator().statusAndWait()
        #expect(status.recovery != nil && status.next == .resume(old: places.oldStore.path))
        let abortion = #expect(throws: MigrationError.self) { try Recovery(of: places.oldStore.url).abortAndWait() }
        #expect(abortion?.outcome == .needsDecision)

        switch kind {
        case "retire": #expect(try retirement(of: places).retireAndWait().outcome == .retired)
        case "share": #expect(try places.share().outcome == .alreadyShared)
        default: #expect(try Recovery(of: places.oldStore.url).resumeAndWait().outcome == .retired)
        }

        try expectRetired(places, archive)
        #expect(try places.migrator().statusAndWait().next == nil)
    }

    @Test(
        "Leftovers are removed only if an intact archive has them, and no process has them open",
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
            try retirement(of: places, lockTimeout: .milliseconds(500)).retireAndWait()
        }

        #expect(error?.outcome == (kind == "open" ? .busy : .needsDecision))
        #expect(
            try places.old.everything().filter { !$0.key.contains(".store-migrate") }.mapValues(\.bytes) == before
        )
        #expect(try places.share().outcome == .alreadyShared)
        guard let holder else { return }
        #expect(holder.waitForExit() == 0)
        #expect(try retirement(of: places).retireAndWait().outcome == .retired)
        try expectRetired(places, archive)
    }

    @Test("A new store at a retired store's path is not treated as the retired one", arguments: modes)
    func resurrected(mode: String) throws {
        let (places, archive) = try shared(mode: mode)
        try retirement(of: places).retireAndWait()
        try places.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (7)")
        let new = try places.digest(of: places.newStore)

        let outcome = try places.share()

        #expect(outcome.outcome.exitStatus == 4, "\(outcome.outcome)")
        #expect(try places.digest(of: places.newStore) == new)
        #expect(try places.count("SELECT x FROM t", in: places.oldStore) == 7)
        #expect(try BackupArchive(at: archive.url).check().store.digest == new)
    }
}
