import CTestSupport
import Foundation
import SafeFiles

/// Makes, mounts and records disk images; inside a private machine only.
enum BlockDisk {
    /// The mount point, the same for every state of a disk, so that paths that a command recorded stay right.
    static let folder = PrivateMachine.folder + "/disk"
    static let root = folder + "/root"
    private static let recorder = PrivateMachine.folder + "/recorder"
    private static let mark = recorder + "/mark"
    static var recorderProgram: String { Command.testFolder + "/block-recorder" }
    private static var timeLimit: Duration { .seconds(120) }

    /// Makes an image with an empty file system in it.
    static func make(_ image: String, _ fileSystem: BlockFileSystem, bytes: Int? = nil) throws {
        guard FileManager.default.createFile(atPath: image, contents: nil),
            truncate(image, off_t(bytes ?? fileSystem.bytes)) == 0
        else { throw BlockFailure(what: "cannot make \(image)", errno: errno) }
        let output = image + ".output"
        let ending = try fileSystem.making(image).run(output: output, deadline: Deadline(after: timeLimit))
        guard ending == .exited(0) else {
            throw BlockFailure(what: "mkfs.\(fileSystem) ended with \(ending)", errno: EIO)
        }
    }

    /// Mounts an image, lets `body` work on it, and unmounts it.
    ///
    /// The programs' temporary folder is in memory and empty, as after a start of the machine.
    static func withMounted<Result>(
        _ image: String,
        _ fileSystem: BlockFileSystem,
        beside temporary: TemporaryDirectory,
        elsewhere: Bool = false,
        isNew: Bool = false,
        _ body: (Scratch) throws -> Result
    ) throws -> Result {
        let sector = UInt32(BlockFileSystem.sectorSize)
        let options = fileSystem.options
        guard ctest_mount_image(image, folder, fileSystem.rawValue, options, sector, elsewhere ? 1 : 0) == 0 else {
            throw BlockFailure(what: "cannot mount \(fileSystem)", errno: errno)
        }
        let result = Swift.Result { try onMounted(beside: temporary, isNew: isNew, body) }
        try unmount(folder)
        return try result.get()
    }

    /// A separate function, so that no file on the disk is open afterwards.
    private static func onMounted<Result>(
        beside temporary: TemporaryDirectory,
        isNew: Bool,
        _ body: (Scratch) throws -> Result
    ) throws -> Result {
        let passing = root + "/tmp"
        if isNew {
            for path in [root, passing] where mkdir(path, 0o700) != 0 {
                throw BlockFailure(what: "cannot make \(path)", errno: errno)
            }
        }
        guard ctest_mount_memory(passing) == 0 else {
            throw BlockFailure(what: "cannot mount \(passing)", errno: errno)
        }
        let result = Swift.Result { try body(Scratch(root: root, beside: temporary)) }
        try unmount(passing)
        return try result.get()
    }

    /// Serves an image as a disk and records its writes in a log while `body` works on the mounted file system.
    static func withRecorded<Result>(
        _ image: String,
        log: String,
        _ fileSystem: BlockFileSystem,
        beside temporary: TemporaryDirectory,
        _ body: (Scratch) throws -> Result
    ) throws -> Result {
        if mkdir(recorder, 0o700) != 0, errno != EEXIST {
            throw BlockFailure(what: "cannot make \(recorder)", errno: errno)
        }
        // The recorder goes to the background once it is mounted.
        let ending = try Command(executable: recorderProgram, arguments: [image, log, recorder])
            .run(output: log + ".output", deadline: Deadline(after: timeLimit))
        guard ending == .exited(0) else {
            throw BlockFailure(what: "the recording disk ended with \(ending)", errno: EIO)
        }
        let result = Swift.Result {
            try withMounted(recorder + "/disk", fileSystem, beside: temporary, body)
        }
        try unmount(recorder)
        return try result.get()
    }

    /// Writes a mark into the log.
    static func mark(_ text: String) throws {
        let descriptor = open(mark, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw BlockFailure(what: "cannot open \(mark)", errno: errno) }
        defer { close(descriptor) }
        guard write(descriptor, text, text.utf8.count) == text.utf8.count else {
            throw BlockFailure(what: "cannot write to \(mark)", errno: errno)
        }
    }

    private static func unmount(_ folder: String) throws {
        guard ctest_unmount(folder, 0) != 0 else { return }
        let error = errno
        _ = ctest_unmount(folder, 1)
        throw BlockFailure(what: "a process still uses \(folder)", errno: error)
    }
}
