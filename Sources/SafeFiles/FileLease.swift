import SystemPackage

/// The kernel's word that nobody else has a file open, and its promise that an opener waits as long as the lease is held.
///
/// The wait of an opener ends after `/proc/sys/fs/lease-break-time` (45 s) at the latest: do little under a lease, and ask
/// `isIntact()` before what must not be seen.
package final class FileLease: Sendable {
    private let file: DurableFile

    private init(_ file: DurableFile) {
        self.file = file
    }

    /// Takes a write lease; nil if somebody, this process included, has the file open.
    ///
    /// Throws `permissionDenied` if the file is not this user's, and another error if the file system knows no leases. Does
    /// not open a file that this process has open, for closing it again would cancel SQLite's locks.
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
    /// The kernel asks that process to give its lease back, as it does for every opener.
    private static func open(_ name: String, in directory: Directory) throws(FileError) -> DurableFile? {
        do throws(FileError) {
            return try directory.openFile(name, for: .reading)
        } catch {
            guard error.errno == .resourceTemporarilyUnavailable else { throw error }
            return nil
        }
    }

    /// Takes a write lease as soon as nobody else has the file open; nil if the deadline passed first.
    ///
    /// Others may have it open for a moment only: whoever looks through files, or a process that is being started and has
    /// every file of its parent's until it becomes another program.
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

    /// False once somebody tries to open the file, or the lease was given back.
    package func isIntact() -> Bool {
        let holds = try? file.withDescriptor("ask for the lease of") { descriptor throws(Errno) in
            try descriptor.operations.holdsLease(descriptor.number)
        }
        return holds ?? false
    }

    /// Gives the lease back, and lets a waiting opener go on.
    ///
    /// Happens at the end of the lease's life at the latest.
    package func release() {
        // Closing returns the lease as well; neither failure leaves anything held.
        try? file.withDescriptor("return the lease of") { descriptor throws(Errno) in
            try descriptor.operations.returnLease(descriptor.number)
        }
        try? file.close()
    }
}
