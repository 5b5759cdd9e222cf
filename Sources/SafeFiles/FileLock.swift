import SystemPackage

/// An exclusive lock between processes, and between the threads of one, on a dedicated file.
///
/// It is an `flock`: closing other descriptors of the file does not release it, and the kernel releases it when its
/// holder dies.
package final class FileLock: Sendable {
    /// The locked file, open to read and write.
    package let file: DurableFile

    private init(_ file: DurableFile) {
        self.file = file
    }

    /// Acquires the lock, creating the file for its owner alone if it is missing; nil if the deadline passed first.
    ///
    /// Tries once even if the deadline has passed. The holder's close of the file wakes waiting processes.
    package static func acquire(
        _ name: String,
        in directory: Directory,
        deadline: Deadline
    ) throws(FileError) -> FileLock? {
        while true {
            let file = try open(name, in: directory)
            guard try wait(for: file, until: deadline) else { return nil }
            // If the last holder removed the file, this lock is on an unlinked file that no other process can open.
            if try directory.status(of: name)?.identity == file.status().identity { return FileLock(file) }
            guard !deadline.hasPassed else { return nil }
        }
    }

    /// Releases the lock; the file stays.
    ///
    /// Called when this value is released, at the latest.
    package func release() {
        // Closing also unlocks, except while a child between fork and exec still has the descriptor.
        try? file.withDescriptor("unlock") { descriptor throws(Errno) in
            try descriptor.operations.unlock(descriptor.number)
        }
        try? file.close()
    }

    deinit { release() }

    private static func open(_ name: String, in directory: Directory) throws(FileError) -> DurableFile {
        let operation = "lock"
        if let status = try directory.status(of: name) { try directory.vet(status, name, operation) }
        let number = try directory.perform(operation, name) { number throws(Errno) in
            try directory.operations.open(name, in: number, .locking)
        }
        let file = DurableFile(
            Descriptor(number, directory.operations),
            path: directory.pathForMessage(name),
            isNew: true
        )
        let status = try file.status()
        // Removed while it was opened: the caller retries with the name.
        if status.linkCount > 0 { try directory.vet(status, name, operation) }
        return file
    }

    private static func wait(for file: DurableFile, until deadline: Deadline) throws(FileError) -> Bool {
        if try tryLock(file) { return true }
        // If the inotify limit prevents a watch, only the growing pauses remain.
        let watch = try file.withDescriptor("lock") { descriptor throws(Errno) -> FileWatch? in
            try? FileWatch(descriptor, for: .closing)
        }
        var pause = Duration.milliseconds(1)
        while true {
            if try tryLock(file) { return true }
            guard !deadline.hasPassed else { return false }
            // The kernel reports the close of a file shortly before it releases the lock, hence the short pauses after
            // it.
            let limit = Deadline(after: min(pause, deadline.remaining))
            let wasClosed = if let watch { watch.wait(until: limit) } else { try rest(file, until: limit) }
            pause = wasClosed ? .milliseconds(1) : min(pause * 2, .milliseconds(250))
        }
    }

    private static func rest(_ file: DurableFile, until limit: Deadline) throws(FileError) -> Bool {
        try file.withDescriptor("lock") { descriptor throws(Errno) in
            _ = try? descriptor.operations.poll(nil, milliseconds: limit.remainingMilliseconds)
            return false
        }
    }

    private static func tryLock(_ file: DurableFile) throws(FileError) -> Bool {
        try file.withDescriptor("lock") { descriptor throws(Errno) in
            do throws(Errno) {
                try Descriptor.repeating { () throws(Errno) in try descriptor.operations.lock(descriptor.number) }
                return true
            } catch .resourceTemporarilyUnavailable {
                return false
            }
        }
    }
}

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
