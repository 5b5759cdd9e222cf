import SafeFiles
import StoreAccess
import StoreFormat
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import StoreBackup

@Suite("A store that is copied before it is archived")
struct CopiedStoreTests {
    private let world: BackupWorld

    init() throws { world = try BackupWorld() }

    /// The rows of the table `t` in an archive, and the files beside the store there.
    private func unpacked(_ archive: StoreLocation) throws -> (rows: Int64?, files: [String]) {
        let backup = try BackupArchive(at: archive.url).unpacked()
        let connection = try StoreConnection(backup.location, access: .immutable)
        defer { try? connection.close() }
        return (try connection.value("SELECT count(*) FROM t")?.integer, try backup.folder.entries())
    }

    @Test("A store without companions is unpacked as one file, which only its user may read")
    func alone() throws {
        let archive = try BackupWorld.small()
        let backup = try BackupArchive(at: archive.archive.url).unpacked()
        #expect(try backup.folder.entries() == ["store.sqlite"])
        #expect(try backup.folder.status(of: "store.sqlite")?.mode == 0o600)
        #expect(backup.manifest.store.mode == 0o644)
    }

    @Test(
        "A store that a program has open is archived with its committed rows, in either journal mode",
        arguments: ["wal", "delete"],
        [false, true]
    )
    func open(mode: String, hasExternalFiles: Bool) throws {
        let store = try world.stores.makeStore("PRAGMA journal_mode=\(mode); CREATE TABLE t (x)")
        if hasExternalFiles {
            let file = try world.stores.createExternalFolder(of: store).createFile("A", mode: 0o644)
            try Array("blob".utf8).withUnsafeBytes { try file.write($0, at: 0) }
            try file.close()
        }
        let writer = try StoreWriterProcess(store.path)
        #expect(try writer.execute("INSERT INTO t VALUES (1), (2), (3)") == "ok")
        // A read transaction keeps the log, and does not block a writer.
        if mode == "wal" {
            #expect(try writer.execute("BEGIN") == "ok")
            #expect(try writer.execute("SELECT count(*) FROM t") == "value 3")
        }
        let found = try unpacked(world.make(store.name))
        #expect(found.rows == 3)
        #expect(found.files == (hasExternalFiles ? [".store_SUPPORT", "store.sqlite"] : ["store.sqlite"]))
        #expect(try world.stores.directory.status(of: store.writeAheadLogName) != nil || mode != "wal")
        #expect(writer.waitForExit() == 0)
    }

    @Test("A row that is written while the store is read in place is in the archive, unless the backup is cancelled")
    func written() throws {
        for isCancelled in [true, false] { try backUp(writing: "\(isCancelled).sqlite", isCancelled) }
    }

    /// Backs up a store that is written to meanwhile, and stops the backup after that if it is to be cancelled.
    private func backUp(writing name: String, _ isCancelled: Bool) throws {
        let store = try world.stores.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1)", as: name)
        let writer = try StoreWriterProcess(store.path)
        let answers = Mutex<[String]>([])
        nonisolated(unsafe) let program = writer
        let monitor = WorkMonitor(
            onProgress: { progress in
                guard progress.phase == .copying else { return }
                answers.withLock { answers in
                    guard answers.isEmpty else { return }
                    answers.append((try? program.execute("INSERT INTO t VALUES (2)")) ?? "no answer")
                }
            },
            isCancelled: { isCancelled && answers.withLock { !$0.isEmpty } }
        )
        let place = world.archives.location("a.tar.zst")
        let maker = BackupMaker(of: store, options: BackupOptions(), monitor: monitor)
        if isCancelled {
            let error = #expect(throws: StoreError.self) { try maker.make(at: place.url) }
            #expect(error?.code == .cancelled)
            #expect(try world.archives.directory.entries().isEmpty)
        } else {
            try maker.make(at: place.url)
            #expect(try unpacked(place).rows == 2)
        }
        #expect(answers.withLock { $0 } == ["ok"])
        #expect(writer.waitForExit() == 0)
    }

    @Test("A store is archived without its fence, and the backup accepts writes", arguments: ["wal", "delete"])
    func fenced(mode: String) throws {
        let transaction = String(repeating: "0a", count: 16)
        let trigger = "_store_migrate_fence_\(transaction)_1_insert"
        let store = try world.stores.makeStore(
            """
            PRAGMA journal_mode=\(mode); CREATE TABLE t (x); INSERT INTO t VALUES (1);
            CREATE TRIGGER \(trigger) BEFORE INSERT ON t
            BEGIN SELECT RAISE(ABORT, 'store moved to /new (store-migrate \(transaction))'); END
            """
        )
        #expect(try StoreInspector(depth: .layout).inspect(store).inspection?.fence?.newPath == "/new")
        let before = try world.stores.bytes(store.name)
        let folder = try world.stores.directory.status()
        let backup = try BackupArchive(at: world.make(store.name).url).unpacked()
        #expect(try backup.folder.entries() == [store.name])
        let connection = try StoreConnection(backup.location, access: .privateCopy)
        try connection.execute("INSERT INTO t VALUES (2)")
        #expect(try connection.value("SELECT count(*) FROM t")?.integer == 2)
        #expect(try connection.value("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'")?.integer == 0)
        try connection.close()
        #expect(try world.stores.bytes(store.name) == before)
        // No log was created beside the store, even for a moment.
        #expect(try world.stores.directory.status().modified == folder.modified)
    }

    @Test(
        "When a write or the close of an unpacked file fails, unpacking throws that error and leaves no files",
        arguments: ["write", "close"],
        [100, 6 << 20]
    )
    func refused(call: String, bytes: Int) throws {
        let store = try world.stores.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (randomblob(\(bytes)))")
        let archive = try world.make(store.name)
        let place = try world.archives.directory.createDirectory("place", mode: 0o700)
        func unpack(_ system: RecordingFileSystem, atFirstMember act: @escaping @Sendable () -> Void) throws {
            let isFirst = Mutex(true)
            let monitor = WorkMonitor(onProgress: { _ in
                let isNow = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                if isNow { act() }
            })
            let source = try ArchiveSource(at: archive.url)
            _ = try UnpackedBackup(source, in: place.path, monitor: monitor, operations: system)
        }
        // The calls before the first member may differ in number.
        let usual = RecordingFileSystem()
        let start = Mutex(0)
        try unpack(usual) { start.withLock { $0 = usual.calls.count } }
        let calls = Array(usual.calls.dropFirst(start.withLock { $0 }))
        let last = try #require(calls.lastIndex(of: "write"))
        let distance = call == "write" ? calls.firstIndex(of: call) : calls[last...].firstIndex(of: call)
        let failing = try #require(distance)

        let system = RecordingFileSystem()
        let error = #expect(throws: FileError.self) {
            try unpack(system) { system.fail(after: [failing], with: .ioError) }
        }

        #expect(error?.errno == .ioError)
        #expect(try place.entries().isEmpty)
    }
}
