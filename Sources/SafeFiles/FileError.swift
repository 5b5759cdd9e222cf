import Glibc
package import SystemPackage

/// A file operation that the kernel refused, or this module before it.
package struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Why this module refused an operation that the kernel would permit.
    package enum Refusal: Hashable, Sendable {
        /// The name is empty, `.`, `..`, or contains a slash or a NUL.
        case invalidName
        /// The file is of another kind than the requested one.
        case wrongKind(FileStatus.Kind)
        /// The file has several names; a write through one shows under the others.
        case hardLinked(Int)
        /// The path is not valid UTF-8 and could not be passed to SQLite.
        case notUnicode
        /// An earlier fsync failed, so the content on the disk is unknown.
        case abandoned
        /// The file is larger than the caller's limit.
        case tooLarge
        /// The file was closed before.
        case closed
    }

    /// The operation, as a verb phrase that fits after "cannot".
    package let operation: String
    /// The absolute path of the operation.
    package let path: String
    package let errno: Errno
    /// Set if this module refused; `errno` is then the closest code of the kernel.
    package let refusal: Refusal?

    package init(operation: String, path: String, errno: Errno) {
        self.operation = operation
        self.path = path
        self.errno = errno
        refusal = nil
    }

    package init(operation: String, path: String, refusal: Refusal) {
        self.operation = operation
        self.path = path
        self.refusal = refusal
        errno = refusal.errno
    }

    package var description: String {
        "cannot \(operation), \(refusal?.description ?? errno.description): \(path)"
    }
}

extension FileError {
    /// What `read` returns; nil when it fails, because what it reads is missing, damaged or not to be trusted.
    ///
    /// Throws a file error that may pass: nothing may be decided without the file then.
    package static func ifUsable<Content>(_ read: () throws -> Content) throws -> Content? {
        do { return try read() } catch {
            guard (error as? FileError)?.errno.mayPass != true else { throw error }
            return nil
        }
    }
}

extension FileError.Refusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .invalidName: "it is not a valid file name"
        case .wrongKind(let kind): "it is \(kind.noun)"
        case .hardLinked(let count): "it has \(count) names (hard links)"
        case .notUnicode: "its path is not valid UTF-8"
        case .abandoned: "an earlier fsync failed"
        case .tooLarge: "it is larger than expected"
        case .closed: "it is closed"
        }
    }

    fileprivate var errno: Errno {
        switch self {
        case .invalidName: .invalidArgument
        case .wrongKind(.symbolicLink): .tooManySymbolicLinkLevels
        case .wrongKind(.directory): .isDirectory
        case .wrongKind(.regular): .notDirectory
        case .wrongKind: .noSuchAddressOrDevice
        case .hardLinked: .tooManyLinks
        case .notUnicode: .illegalByteSequence
        case .abandoned: .ioError
        case .tooLarge: .fileTooLarge
        case .closed: .badFileDescriptor
        }
    }
}

extension FileStatus.Kind {
    fileprivate var noun: String {
        switch self {
        case .regular: "a regular file"
        case .directory: "a folder"
        case .symbolicLink: "a symbolic link"
        case .fifo: "a FIFO"
        case .socket: "a socket"
        case .device: "a device"
        case .other: "not a regular file"
        }
    }
}

extension Errno {
    /// True if permissions or a read-only file system prevented the operation.
    package var isRefusal: Bool { self == .permissionDenied || self == .notPermitted || self == .readOnlyFileSystem }
}

extension Errno {
    /// True if the disk or a quota is full, or the file may not grow (`ulimit -f`).
    package var isOutOfSpace: Bool { [.noSpace, .diskQuotaExceeded, .fileTooLarge].contains(self) }

    /// True if the file may be there and sound all the same: a disk, a mount, memory or a limit of this process failed.
    package var mayPass: Bool {
        let failures: [Errno] = [
            .ioError, .interrupted, .resourceTemporarilyUnavailable, .noMemory, .timedOut, .staleNFSFileHandle,
            .socketNotConnected, .hostIsDown, Errno(rawValue: ENOKEY),
        ]
        return failures.contains(self) || isOutOfDescriptors
    }

    /// True if this process, or the whole system, has reached the limit of open files.
    package var isOutOfDescriptors: Bool { self == .tooManyOpenFiles || self == .tooManyOpenFilesInSystem }
}
