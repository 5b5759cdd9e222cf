import SafeFiles
import StoreAccess
import SystemPackage
import TestSupport
import Testing

@testable import StoreBackup

@Suite("The archive of a backup is durable, and fits on the disk")
struct BackupDurabilityTests {
    /// How the archive gets its name.
    enum Naming: CaseIterable {
        case given, firstFree
    }

    private let world: BackupWorld
    private let store: StoreLocation

    init() throws {
        world = try BackupWorld()
        store = try world.stores.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
    }

    private func make(_ naming: Naming, _ system: RecordingFileSystem, _ monitor: WorkMonitor = .silent) throws {
        let maker = BackupMaker(of: store, options: BackupOptions(), monitor: monitor, operations: system)
        switch naming {
        case .given: try maker.make(at: world.archives.location("a1").url)
        case .firstFree: _ = try maker.make(in: world.archives.path) { "a\($0)" }
        }
    }

    @Test(
        "An archive is flushed before it is read back, and its folder after it gets its name",
        arguments: Naming.allCases
    )
    func flushed(naming: Naming) throws {
        let system = RecordingFileSystem()
        try make(naming, system)
        let calls = system.calls
        let reading = try #require(calls.firstIndex(of: "discardCachedPages"))
        #expect(calls[reading - 1] == "synchronize")
        let publishing = try #require(calls.firstIndex(of: "rename archive a1"))
        #expect(reading < publishing)
        #expect(calls.dropFirst(publishing + 1).first == "synchronize")
    }

    @Test("A failed flush of the folder fails the backup", arguments: Naming.allCases)
    func failedFlush(naming: Naming) throws {
        let system = RecordingFileSystem()
        let monitor = WorkMonitor(onProgress: { progress in
            // Of the next two calls, the first one renames the archive.
            if progress.phase == .publishing, progress.done == 0 { system.fail(after: [1], with: .ioError) }
        })
        let error = #expect(throws: FileError.self) { try make(naming, system, monitor) }
        #expect(error?.errno == .ioError)
        let publishing = try #require(system.calls.firstIndex(of: "rename archive a1"))
        #expect(system.calls.dropFirst(publishing + 1).first == "synchronize")
    }

    @Test(
        "A store that is larger than the free space is not backed up",
        arguments: ["store.sqlite", "store.sqlite-wal", ".store_SUPPORT/_EXTERNAL_DATA/A"]
    )
    func sparse(name: String) throws {
        var folder = world.stores.directory
        let path = name.split(separator: "/").map(String.init)
        for component in path.dropLast() { folder = try folder.createDirectory(component, mode: 0o755) }
        let last = try #require(path.last)
        let file =
            try folder.status(of: last) == nil
            ? folder.createFile(last, mode: 0o644) : folder.openFile(last, for: .writing)
        try file.truncate(to: 1 << 42)
        try file.close()
        // Cancelled from the beginning: the space is checked before anything is read.
        let maker = BackupMaker(of: store.url, isCancelled: { true })
        let error = #expect(throws: StoreError.self) { try maker.make(at: world.archives.location("a1").url) }
        #expect(error?.code == .noSpace)
        #expect(try world.archives.directory.entries().isEmpty)
    }
}
