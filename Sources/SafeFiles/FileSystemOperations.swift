import Synchronization
package import SystemPackage

/// The only interface to the kernel: every call this module makes, so that tests can record and fail any of them.
///
/// Descriptors are plain numbers that the caller owns. Implementations neither loop nor interpret: an interrupted call
/// or a short transfer is returned unchanged, and the types above handle it.
package protocol FileSystemOperations: Sendable {
    /// Opens a folder by its path, following symbolic links.
    func openDirectory(path: String) throws(Errno) -> Int32
    /// Opens a name beneath a folder, without following symbolic links.
    func open(_ name: String, in directory: Int32, _ mode: OpeningMode) throws(Errno) -> Int32
    func close(_ descriptor: Int32) throws(Errno)
    /// The kernel's path of a descriptor, as bytes.
    func path(of descriptor: Int32) throws(Errno) -> [UInt8]

    func status(of descriptor: Int32) throws(Errno) -> FileStatus
    /// The status of a name, without following a symbolic link and without opening anything.
    func status(of name: String, in directory: Int32) throws(Errno) -> FileStatus
    /// The status of the final target of a name; for `/proc`, whose links refer to open files.
    func statusOfTarget(of name: String, in directory: Int32) throws(Errno) -> FileStatus
    /// The text of a link, as bytes; for `/proc`, the path of an open file.
    func target(of name: String, in directory: Int32) throws(Errno) -> [UInt8]
    /// When a name's file was created; nil if the file system does not record it.
    func birthTime(of name: String, in directory: Int32) throws(Errno) -> FileStatus.Time?
    /// True if this user can write the file, or create and remove names in the folder, with this name.
    func allowsWriting(_ name: String, in directory: Int32) throws(Errno) -> Bool
    /// Passes the names in a folder that are valid UTF-8, unsorted, without `.` and `..`.
    func entries(of directory: Int32, _ body: (String) -> Void) throws(Errno)
    /// True for an open file that has an access control list beyond its mode, or a default one.
    func hasAccessList(_ descriptor: Int32) throws(Errno) -> Bool
    func space(on descriptor: Int32) throws(Errno) -> FileSystemSpace
    /// The magic number of the file system.
    func fileSystemType(of descriptor: Int32) throws(Errno) -> UInt64

    func createDirectory(_ name: String, in directory: Int32) throws(Errno)
    /// Renames; unless `replacing`, fails if the new name exists.
    func rename(
        _ name: String,
        in directory: Int32,
        to newName: String,
        in newDirectory: Int32,
        replacing: Bool
    ) throws(Errno)
    /// Exchanges two names in a folder in one step.
    func exchange(_ name: String, with other: String, in directory: Int32) throws(Errno)
    /// Gives a file a second name, without following a symbolic link; fails if that name exists.
    func link(_ name: String, in directory: Int32, to newName: String, in newDirectory: Int32) throws(Errno)
    func removeFile(_ name: String, in directory: Int32) throws(Errno)
    func removeDirectory(_ name: String, in directory: Int32) throws(Errno)

    func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int
    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) -> Int
    func truncate(_ descriptor: Int32, to size: Int64) throws(Errno)
    /// Flushes a file: with `dataOnly` fdatasync, else fsync.
    func synchronize(_ descriptor: Int32, dataOnly: Bool) throws(Errno)
    /// Drops the kernel's clean pages, so that the next read comes from the disk.
    func discardCachedPages(_ descriptor: Int32) throws(Errno)
    func setMode(_ descriptor: Int32, _ mode: UInt32) throws(Errno)
    func setOwner(_ descriptor: Int32, user: UInt32?, group: UInt32?) throws(Errno)
    /// Makes the destination share the blocks of the source.
    func clone(_ destination: Int32, from source: Int32) throws(Errno)

    /// Acquires the exclusive `flock` without waiting.
    func lock(_ descriptor: Int32) throws(Errno)
    func unlock(_ descriptor: Int32) throws(Errno)
    func takeLease(_ descriptor: Int32) throws(Errno)
    func holdsLease(_ descriptor: Int32) throws(Errno) -> Bool
    func returnLease(_ descriptor: Int32) throws(Errno)

    /// Creates an inotify descriptor that reports events on the target of another descriptor.
    func watch(_ descriptor: Int32, for events: FileWatch.Events) throws(Errno) -> Int32
    /// Reads and discards pending events; false if there were none.
    func drainEvents(_ watch: Int32) throws(Errno) -> Bool
    /// Waits until a descriptor is readable; nil waits for the timeout alone.
    func poll(_ descriptor: Int32?, milliseconds: Int32) throws(Errno) -> Bool
}

/// The ways in which this module opens a name.
package enum OpeningMode: Sendable {
    /// A folder, to access names below it.
    case directory
    /// An existing file, for reading; never blocks on a FIFO.
    case reading
    /// An existing file, for reading and writing; never blocks on a FIFO.
    case writing
    /// A new file, for reading and writing by its owner alone; fails if the name exists.
    case creating
    /// A file to lock and write, created for its owner alone if it is missing.
    case locking
}

/// What a file system has room for, by statvfs(3).
package struct FileSystemSpace: Hashable, Sendable {
    /// The bytes that an unprivileged process can still write.
    package let freeBytes: Int64
    /// The inodes that an unprivileged process can still use; nil where the file system does not count them.
    package let freeInodes: Int64?
    /// True if the file system, or this mount of it, is read-only.
    package let isReadOnly: Bool

    package init(freeBytes: Int64, freeInodes: Int64?, isReadOnly: Bool) {
        self.freeBytes = freeBytes
        self.freeInodes = freeInodes
        self.isReadOnly = isReadOnly
    }
}

/// An open descriptor and the operations to use it with; closed when this value is released, at the latest.
final class Descriptor: Sendable {
    let number: Int32
    let operations: any FileSystemOperations
    private let isClosed = Atomic(false)

    init(_ number: Int32, _ operations: any FileSystemOperations) {
        self.number = number
        self.operations = operations
    }

    deinit {
        // No caller remains that could handle the error.
        try? close()
    }

    /// Closes the descriptor, once: the kernel frees the number even if it returns an error.
    func close() throws(Errno) {
        guard !isClosed.exchange(true, ordering: .relaxed) else { return }
        try operations.close(number)
    }

    /// Retries a call that a signal interrupts, or an `openat2` that a rename elsewhere interrupts.
    ///
    /// The number of retries is bounded, then the error is thrown. Not for `close` and `fsync`, which must not be
    /// repeated.
    static func repeating<Result>(
        _ passing: Set<Errno> = [.interrupted],
        _ call: () throws(Errno) -> Result
    ) throws(Errno) -> Result {
        for _ in 0..<100 {
            do throws(Errno) {
                return try call()
            } catch {
                guard passing.contains(error) else { throw error }
            }
        }
        return try call()
    }
}
