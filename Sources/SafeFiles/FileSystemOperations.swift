package import SystemPackage

/// The one seam to the kernel: every call this module makes, so that tests can record and fail any of them.
///
/// Descriptors are plain numbers that the caller owns. Implementations neither loop nor interpret: an interrupted call or
/// a short transfer is reported as it is, and the types above deal with it.
package protocol FileSystemOperations: Sendable {
    /// Opens a folder by its path, following symbolic links.
    func openDirectory(path: String) throws(Errno) -> Int32
    /// Opens a name of a folder beneath it and without following symbolic links.
    func open(_ name: String, in directory: Int32, _ mode: OpeningMode) throws(Errno) -> Int32
    func close(_ descriptor: Int32) throws(Errno)
    /// The path the kernel knows for a descriptor, as bytes.
    func path(of descriptor: Int32) throws(Errno) -> [UInt8]

    func status(of descriptor: Int32) throws(Errno) -> FileStatus
    /// The status of a name, without following a symbolic link and without opening anything.
    func status(of name: String, in directory: Int32) throws(Errno) -> FileStatus
    /// The status of what a name leads to in the end; for `/proc`, whose links lead to open files.
    func statusOfTarget(of name: String, in directory: Int32) throws(Errno) -> FileStatus
    /// True when this user may write the file, or make and remove names in the folder, that has the name.
    func allowsWriting(_ name: String, in directory: Int32) throws(Errno) -> Bool
    /// Hands over the names in a folder that are valid UTF-8, unsorted, without `.` and `..`.
    func entries(of directory: Int32, _ body: (String) -> Void) throws(Errno)
    /// True for an open file that has an access control list beyond its mode, or hands one down.
    func hasAccessList(_ descriptor: Int32) throws(Errno) -> Bool
    func freeBytes(on descriptor: Int32) throws(Errno) -> Int64
    /// The magic number of the file system.
    func fileSystemType(of descriptor: Int32) throws(Errno) -> UInt64

    func createDirectory(_ name: String, in directory: Int32) throws(Errno)
    /// Renames, and fails if the new name is taken unless `replacing`.
    func rename(
        _ name: String,
        in directory: Int32,
        to newName: String,
        in newDirectory: Int32,
        replacing: Bool
    ) throws(Errno)
    /// Gives a file a second name, without following a symbolic link; fails if that name is taken.
    func link(_ name: String, in directory: Int32, to newName: String, in newDirectory: Int32) throws(Errno)
    func removeFile(_ name: String, in directory: Int32) throws(Errno)
    func removeDirectory(_ name: String, in directory: Int32) throws(Errno)

    func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int
    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) -> Int
    func truncate(_ descriptor: Int32, to size: Int64) throws(Errno)
    /// Brings content to the disk, and with `dataOnly` no more of the inode than is needed to find it.
    func synchronize(_ descriptor: Int32, dataOnly: Bool) throws(Errno)
    /// Asks the kernel to forget its clean pages, so that the next read comes from the disk.
    func discardCachedPages(_ descriptor: Int32) throws(Errno)
    func setMode(_ descriptor: Int32, _ mode: UInt32) throws(Errno)
    func setOwner(_ descriptor: Int32, user: UInt32?, group: UInt32?) throws(Errno)
    /// Makes the destination share the blocks of the source.
    func clone(_ destination: Int32, from source: Int32) throws(Errno)

    /// Takes the exclusive `flock` without waiting.
    func lock(_ descriptor: Int32) throws(Errno)
    func unlock(_ descriptor: Int32) throws(Errno)
    func takeLease(_ descriptor: Int32) throws(Errno)
    func holdsLease(_ descriptor: Int32) throws(Errno) -> Bool
    func returnLease(_ descriptor: Int32) throws(Errno)

    /// Creates an inotify descriptor that reports the events on what another descriptor leads to.
    func watch(_ descriptor: Int32, for events: FileWatch.Events) throws(Errno) -> Int32
    /// Reads and forgets the reported events; false if there were none.
    func drainEvents(_ watch: Int32) throws(Errno) -> Bool
    /// Waits until a descriptor is readable; nil waits for the time alone.
    func poll(_ descriptor: Int32?, milliseconds: Int32) throws(Errno) -> Bool
}

/// The ways in which this module opens a name.
package enum OpeningMode: Sendable {
    /// A folder, to work below it.
    case directory
    /// An existing file, to read; never blocks on a FIFO.
    case reading
    /// An existing file, to read and write; never blocks on a FIFO.
    case writing
    /// A new file, to read and write, for its owner alone; fails if the name is taken.
    case creating
    /// A file that is created for its owner alone if it is absent, to lock and write.
    case locking
}
