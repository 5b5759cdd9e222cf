import Glibc
import SafeFiles
import SystemPackage
import TestSupport
import Testing

@Suite("Groups of files and folders, and what a file system has room for")
struct GroupOwnershipTests {
    private let temporary: TemporaryDirectory
    private let system = RecordingFileSystem()
    private let folder: Directory

    init() throws {
        temporary = try TemporaryDirectory(prefix: "group-ownership-tests")
        folder = try Directory.open(path: temporary.directory.path, operations: system)
    }

    private var changes: Int { system.calls.count { $0 == "setOwner" } }

    @Test("A group that a file or folder has already is not set again")
    func unchanged() throws {
        let file = try folder.createFile("file", mode: 0o600)
        try file.setGroupIfAllowed(file.status().group)
        try folder.setGroupIfAllowed(folder.status().group)
        #expect(changes == 0)
    }

    @Test("Root sets the group of a file and of a folder, and their owner stays", .enabled(if: geteuid() == 0))
    func changed() throws {
        let file = try folder.createFile("file", mode: 0o600)
        try file.setGroupIfAllowed(4_321)
        try folder.setGroupIfAllowed(4_322)
        #expect(changes == 2)
        #expect(try file.status().group == 4_321)
        #expect(try file.status().owner == 0)
        #expect(try folder.status().group == 4_322)
        #expect(try folder.status().owner == 0)
        try file.setOwner(user: 61_234, group: nil)
        #expect(try file.status().owner == 61_234)
        #expect(try file.status().group == 4_321)
    }

    @Test(
        "A group that a user may not set, or that is not mapped, stays; another failure is an error",
        arguments: [(Errno.notPermitted, true), (.invalidArgument, true), (.ioError, false)]
    )
    func refused(_ errno: Errno, _ isTolerated: Bool) throws {
        let file = try folder.createFile("file", mode: 0o600)
        let other = try file.status().group + 1
        let attempts: [() throws -> Void] = [
            { try file.setGroupIfAllowed(other) }, { try folder.setGroupIfAllowed(other) },
        ]
        for attempt in attempts {
            // The first call reads the present group.
            system.fail(after: [1], with: errno)
            if isTolerated {
                try attempt()
            } else {
                let error = #expect(throws: FileError.self) { try attempt() }
                #expect(error?.errno == errno)
            }
        }
        #expect(changes == 2)
    }

    @Test("A mode inherits the set-group-ID bit of the folder, and no other one")
    func inheriting() throws {
        try folder.setMode(0o700)
        #expect(try folder.inheriting(0o640) == 0o640)
        try folder.setMode(0o2775)
        #expect(try folder.inheriting(0o640) == 0o2640)
    }

    @Test("The space of a file system is that of statvfs(3)")
    func space() throws {
        var status = statvfs()
        try #require(statvfs(folder.path, &status) == 0)
        let space = try folder.space()
        #expect((0...Int64(status.f_blocks * status.f_frsize)).contains(space.freeBytes))
        #expect(space.freeBytes > 0)
        #expect((space.freeInodes == nil) == (status.f_files == 0))
        #expect((0...Int64(status.f_files)).contains(space.freeInodes ?? 0))
        #expect(!space.isReadOnly)
        let processes = try Directory.open(path: "/proc").space()
        #expect(processes.freeInodes == nil, "this file system counts no inodes")
    }

    @Test("An overlay is recognized by its type", arguments: [0x794C_7630: true, 0xEF53: false] as [UInt64: Bool])
    func overlay(_ type: UInt64, _ isOverlay: Bool) throws {
        let system = RecordingFileSystem(fileSystemType: type)
        #expect(try Directory.open(path: folder.path, operations: system).isOnOverlay() == isOverlay)
    }

    @Test("A failed fsync of the kernel is an error", arguments: [true, false])
    func synchronizing(_ dataOnly: Bool) {
        #expect(throws: Errno.badFileDescriptor) { try LinuxFileSystem().synchronize(-1, dataOnly: dataOnly) }
    }

    @Test("A folder without an access list has none, and the pages of a file can be discarded")
    func accessList() throws {
        #expect(try !folder.hasAccessList())
        let file = try folder.createFile("file", mode: 0o600)
        try file.discardCachedPages()
        #expect(system.calls.last == "discardCachedPages")
        system.failNext(with: .ioError)
        #expect(throws: FileError.self) { try file.discardCachedPages() }
    }
}
