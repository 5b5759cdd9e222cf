import SystemPackage

/// A lease that guarantees that no other process has a file open, and that makes later openers wait.
///
/// An opener waits at most `/proc/sys/fs/lease-break-time` (45 s): do little under a lease, and check `isIntact()`
/// before effects that must not be observed.
package final class FileLease: Sendable {
    private let file: DurableFile

    private init(_ file: DurableFile) {
        self.file = file
    }

    /// Acquires a write lease; nil if any process, including this one, has the file open.
    ///
    /// Throws `permissionDenied` if the file belongs to another user, and another error if the file system has no
    /// leases. Does not open a file that this process has open, because closing it again would release SQLite's locks.
    package static func acquire(on name: String, in directory: Directory) throws(FileError) -> FileLease? {
        guard let status = try directory.status(of: name) else {
            throw FileError(operation: "lease", path: directory.pathForMessage(name), errno: .noSuchFileOrDirectory)
        }
        let isOpenHere = try OpenFiles.isOpenInThisProcess(status.identity, operations: directory.operations)
        guard !isOpenHere else { return nil }
        guard let file = try open(name, in: directory) else { return nil }
        let isGranted = try file.withDescriptor("lease") { descriptor throws(Errno) in
            do throws(Errno) {
                try Descriptor.repeating { () throws(Errno) in
                    try descriptor.operations.takeLease(descriptor.number)
                }
                return true
            } catch .resourceTemporarilyUnavailable {
                return false
            }
        }
        return isGranted ? FileLease(file) : nil
    }

    /// Opens the file; nil if another process holds a lease on it, which counts as having it open.
    ///
    /// The kernel asks that process to release its lease, as it does for every opener.
    private static func open(_ name: String, in directory: Directory) throws(FileError) -> DurableFile? {
        do throws(FileError) {
            return try directory.openFile(name, for: .reading)
        } catch {
            guard error.errno == .resourceTemporarilyUnavailable else { throw error }
            return nil
        }
    }

    /// Acquires a write lease as soon as no process has the file open; nil if the deadline passed first.
    ///
    /// A process may have it open only briefly: an indexer, or a child between fork and exec, which inherits all open
    /// files.
    package static func acquire(
        on name: String,
        in directory: Directory,
        deadline: Deadline
    ) throws(FileError) -> FileLease? {
        var pause = Duration.milliseconds(1)
        while true {
            if let lease = try acquire(on: name, in: directory) { return lease }
            guard !deadline.hasPassed else { return nil }
            let limit = Deadline(after: min(pause, deadline.remaining))
            _ = try? directory.operations.poll(nil, milliseconds: limit.remainingMilliseconds)
            pause = min(pause * 2, .milliseconds(250))
        }
    }

    /// False once a process tried to open the file, or the lease was released.
    package func isIntact() -> Bool {
        let holds = try? file.withDescriptor("query the lease of") { descriptor throws(Errno) in
            try descriptor.operations.holdsLease(descriptor.number)
        }
        return holds ?? false
    }

    /// Releases the lease, and lets a waiting opener continue.
    ///
    /// Called when this value is released, at the latest.
    package func release() {
        // Closing releases the lease as well, so both failures are harmless.
        try? file.withDescriptor("release the lease of") { descriptor throws(Errno) in
            try descriptor.operations.returnLease(descriptor.number)
        }
        try? file.close()
    }
}
