import Synchronization
import SystemPackage

/// An open regular file whose content is promised to the disk by `synchronize()`.
///
/// After a failed synchronisation the file is abandoned: the kernel may have thrown the unwritten pages away and would
/// report success the next time, so every later write or synchronisation throws. Write a new file instead.
package final class DurableFile: Sendable {
    package enum Access: Sendable {
        case reading
        case writing
    }

    private struct State {
        var descriptor: Descriptor?
        var isAbandoned = false
        /// More than the content must reach the disk: the file is new, or its mode or owner changed.
        var needsFullSynchronization: Bool
    }

    private let state: Mutex<State>
    /// The path it was opened at, for messages.
    package let path: String

    init(_ descriptor: Descriptor, path: String, isNew: Bool) {
        state = Mutex(State(descriptor: descriptor, needsFullSynchronization: isNew))
        self.path = path
    }

    /// Fills a buffer from an offset; returns fewer bytes than it holds only at the end of the file.
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
                // The kernel never answers zero for a regular file; taking it for progress would loop for ever.
                guard count > 0 else { throw .ioError }
                done += SeededBug.shortWriteTakenForWhole.isMade ? rest.count : count
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

    /// Brings what was written to the disk; a failure abandons the file for good.
    package func synchronize() throws(FileError) {
        if SeededBug.fileNotSynchronized.isMade { return }
        try withState("bring to the disk", changes: true) { state, descriptor throws(Errno) in
            do throws(Errno) {
                try descriptor.operations.synchronize(descriptor.number, dataOnly: !state.needsFullSynchronization)
            } catch {
                if SeededBug.failedSynchronizationRepeated.isMade { return }
                state.isAbandoned = true
                throw error
            }
            state.needsFullSynchronization = false
        }
    }

    /// Asks the kernel to forget its copies of what is on the disk, so that reading it back proves something.
    package func discardCachedPages() throws(FileError) {
        try withDescriptor("read back") { descriptor throws(Errno) in
            try descriptor.operations.discardCachedPages(descriptor.number)
        }
    }

    package func status() throws(FileError) -> FileStatus {
        try withDescriptor("look at") { descriptor throws(Errno) in
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

    /// Makes this file's content share the blocks of another's; false if the file system cannot, and nothing changed.
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

    /// Closes the file and reports, once, what the kernel could not write; a second call does nothing.
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
    /// Runs an operation on the open descriptor, one at a time, so that nobody closes it meanwhile.
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

    /// The descriptor's number, for a call that takes two; the caller sees to it that nobody closes this file meanwhile.
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
