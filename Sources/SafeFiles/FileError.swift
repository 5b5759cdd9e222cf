package import SystemPackage

/// A file operation that the kernel, or this module before it, refused.
package struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Why this module refuses what the kernel would have done.
    package enum Refusal: Hashable, Sendable {
        /// The name is empty, `.`, `..`, or holds a slash or a NUL.
        case invalidName
        /// Something other than the kind of file that was asked for is there.
        case wrongKind(FileStatus.Kind)
        /// The file has several names; what is written to one shows under the others.
        case hardLinked(Int)
        /// The path is not valid UTF-8 and could not be named to SQLite again.
        case notUnicode
        /// An earlier synchronisation failed, so nobody knows what of the file is on the disk.
        case abandoned
        /// The file is larger than the caller can take.
        case tooLarge
        /// The file was closed before.
        case closed
    }

    /// What was tried, as a verb phrase that fits after "cannot".
    package let operation: String
    /// The absolute path it was tried on.
    package let path: String
    package let errno: Errno
    /// Set if the refusal is ours; `errno` is then the closest word of the kernel.
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

extension FileError.Refusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .invalidName: "that is no name of one file"
        case .wrongKind(let kind): "it is \(kind.noun)"
        case .hardLinked(let count): "it has \(count) names (hard links)"
        case .notUnicode: "its path is not valid UTF-8"
        case .abandoned: "it was given up after a failed synchronisation"
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
        case .other: "no regular file"
        }
    }
}
