import Synchronization
import SystemPackage

/// An open regular file that `synchronize()` makes durable.
///
/// After a failed fsync the file is abandoned: the kernel may have dropped the unwritten pages and would report success
/// the next time. So every later write or fsync throws. Write a new file instead.
package final class DurableFile: Sendable {
    package enum Access: Sendable {
        case reading
        case writing
    }

    private struct State {
        var descriptor: Descriptor?
        var isAbandoned = false
        /// True if fdatasync is not enough: the file is new, or its mode or owner changed.
        var needsFullSynchronization: Bool
    }

    private let state: Mutex<State>
    /// The path at opening, for messages.
    package let path: String

    init(_ descriptor: Descriptor, path: String, isNew: Bool) {
        state = Mutex(State(descriptor: descriptor, needsFullSynchronization: isNew))
        self.path = path
    }

    /// Fills a buffer from an offset; returns fewer bytes only at the end of the file.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        try withDescriptor("read") { descriptor throws(Errno) in
            var done = 0
            while done < buffer.count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
                let position = try Self.position(offset, plus: done)
                let count = try Descriptor.repeating { () throws(Errno) in
                    try descriptor.operations.read(descriptor.number, into: rest, at: position)
                }
                guard count > 0 else { break }
                done += count
            }
            return done
        }
    }

    /// Writes all bytes at an offset, or throws; how much was written is then unknown.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        try withDescriptor("write", changes: true) { descriptor throws(Errno) in
            var done = 0
            while done < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
                let position = try Self.position(offset, plus: done)
                let count = try Descriptor.repeating { () throws(Errno) in
                    try descriptor.operations.write(descriptor.number, rest, at: position)
                }
                // The kernel never returns zero for a regular file; treating zero as progress would loop forever.
                guard count > 0 else { throw .ioError }
                done += count
            }
        }
    }

    package func truncate(to size: Int64) throws(FileError) {
        try withDescriptor("change the size of", changes: true) { descriptor throws(Errno) in
            try Descriptor.repeating { () throws(Errno) in
                try descriptor.operations.truncate(descriptor.number, to: size)
            }
        }
    }

    /// Flushes writes with fsync or fdatasync; after a failure the file is abandoned for good.
    package func synchronize() throws(FileError) {
        try withState("fsync", changes: true) { state, descriptor throws(Errno) in
            do throws(Errno) {
                try descriptor.operations.synchronize(descriptor.number, dataOnly: !state.needsFullSynchronization)
            } catch {
                state.isAbandoned = true
                throw error
            }
            state.needsFullSynchronization = false
        }
    }

    /// Drops the kernel's clean pages of the file, so that the next read comes from the disk.
    package func discardCachedPages() throws(FileError) {
        try withDescriptor("read back") { descriptor throws(Errno) in
            try descriptor.operations.discardCachedPages(descriptor.number)
        }
    }

    package func status() throws(FileError) -> FileStatus {
        try withDescriptor("stat") { descriptor throws(Errno) in
            try descriptor.operations.status(of: descriptor.number)
        }
    }

    package func setMode(_ mode: UInt32) throws(FileError) {
        try withDescriptor("set the mode of", changes: true, touchesInode: true) { descriptor throws(Errno) in
            try descriptor.operations.setMode(descriptor.number, mode)
        }
    }

    package func setOwner(user: UInt32?, group: UInt32?) throws(FileError) {
        try withDescriptor("set the owner of", changes: true, touchesInode: true) { descriptor throws(Errno) in
            try descriptor.operations.setOwner(descriptor.number, user: user, group: group)
        }
    }

    /// Shares the blocks of another file's content (reflink); false, without a change, if the file system cannot.
    package func clone(from source: DurableFile) throws(FileError) -> Bool {
        guard source !== self else { return true }
        return try withDescriptor("clone to", changes: true, touchesInode: true) { descriptor throws(Errno) in
            do throws(Errno) {
                try descriptor.operations.clone(descriptor.number, from: try source.number)
                return true
            } catch {
                guard Self.meansNoCloning.contains(error) else { throw error }
                return false
            }
        }
    }

    private static let meansNoCloning: Set<Errno> = [
        .notSupported, .improperLink, .invalidArgument, .inappropriateIOCTLForDevice, .noFunction,
        .permissionDenied, .notPermitted,
    ]

    /// Closes the file and reports, once, a write error of the kernel; a second call does nothing.
    package func close() throws(FileError) {
        let descriptor = state.withLock { state in
            defer { state.descriptor = nil }
            return state.descriptor
        }
        guard let descriptor else { return }
        do throws(Errno) {
            try descriptor.close()
        } catch {
            throw FileError(operation: "close", path: path, errno: error)
        }
    }
}

extension DurableFile {
    /// Runs an operation on the open descriptor; operations and `close` exclude each other.
    func withDescriptor<Value: Sendable>(
        _ operation: String,
        changes: Bool = false,
        touchesInode: Bool = false,
        _ body: (Descriptor) throws(Errno) -> Value
    ) throws(FileError) -> Value {
        try withState(operation, changes: changes) { state, descriptor throws(Errno) in
            if touchesInode { state.needsFullSynchronization = true }
            return try body(descriptor)
        }
    }

    private func withState<Value: Sendable>(
        _ operation: String,
        changes: Bool,
        _ body: (inout State, Descriptor) throws(Errno) -> Value
    ) throws(FileError) -> Value {
        try state.withLock { state throws(FileError) in
            guard let descriptor = state.descriptor else {
                throw FileError(operation: operation, path: path, refusal: .closed)
            }
            guard !changes || !state.isAbandoned else {
                throw FileError(operation: operation, path: path, refusal: .abandoned)
            }
            do throws(Errno) {
                return try body(&state, descriptor)
            } catch {
                throw FileError(operation: operation, path: path, errno: error)
            }
        }
    }

    /// The descriptor's number, for a call with two descriptors; the caller must prevent a concurrent close.
    private var number: Int32 {
        get throws(Errno) {
            guard let descriptor = state.withLock({ $0.descriptor }) else { throw .badFileDescriptor }
            return descriptor.number
        }
    }

    private static func position(_ offset: Int64, plus done: Int) throws(Errno) -> Int64 {
        let (position, overflow) = offset.addingReportingOverflow(Int64(done))
        guard offset >= 0, !overflow else { throw .invalidArgument }
        return position
    }
}

/// New content of a small file that is durable beside it, and replaces it with one rename.
///
/// Unless committed, its file is removed when this value is released.
package final class StagedReplacement {
    private let name: String
    private let temporaryName: String
    private let folder: Directory
    private let lock: FileLock
    private var isSettled = false

    init(of name: String, by temporaryName: String, in folder: Directory, lock: FileLock) {
        self.name = name
        self.temporaryName = temporaryName
        self.folder = folder
        self.lock = lock
    }

    deinit { cancel() }

    /// Renames the new content over the old one, durably.
    package func commit() throws(FileError) {
        do throws(FileError) {
            // Another user may have replaced the temporary file, which must then not be published.
            guard try folder.status(of: temporaryName)?.identity == lock.file.status().identity else {
                throw FileError(operation: "replace", path: folder.pathForMessage(name), errno: .staleNFSFileHandle)
            }
            try folder.perform("replace", name) { number throws(Errno) in
                try folder.operations.rename(temporaryName, in: number, to: name, in: number, replacing: true)
            }
        } catch {
            cancel()
            throw error
        }
        isSettled = true
        defer { lock.release() }
        try folder.synchronize()
    }

    /// Removes the new content; does nothing after ``commit()``.
    package func cancel() {
        guard !isSettled else { return }
        isSettled = true
        try? folder.removeFile(temporaryName)
        lock.release()
    }
}
