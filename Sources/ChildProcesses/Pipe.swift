internal import CConfinement
internal import Glibc
internal import Synchronization

/// A pipe whose ends no other program inherits, and which are closed when this value is released, at the latest.
package final class Pipe: Sendable {
    private static let page = Int(PIPE_BUF)

    private let ends: Mutex<(reading: Int32?, writing: Int32?)>

    package init() throws(ChildProcessError) {
        var ends: [Int32] = [-1, -1]
        guard cconfinement_pipe(&ends) == 0 else { throw .cannotStart("a pipe", errno: errno) }
        self.ends = Mutex((ends[0], ends[1]))
    }

    deinit {
        closeReading()
        closeWriting()
    }

    /// The descriptor for reading; -1 once it is closed.
    package var reading: Int32 { ends.withLock { $0.reading ?? -1 } }

    /// The descriptor for writing; -1 once it is closed.
    package var writing: Int32 { ends.withLock { $0.writing ?? -1 } }

    package func closeReading() {
        ends.withLock { ends in
            if let end = ends.reading { close(end) }
            ends.reading = nil
        }
    }

    package func closeWriting() {
        ends.withLock { ends in
            if let end = ends.writing { close(end) }
            ends.writing = nil
        }
    }

    /// Reads available bytes, waiting for the first; empty at the end, nil if the kernel reports an error.
    package func read(atMost count: Int = 65_536) -> [UInt8]? { Self.read(reading, atMost: count) }

    fileprivate static func read(_ descriptor: Int32, atMost count: Int = 65_536) -> [UInt8]? {
        var isRefused = false
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            while true {
                let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                if count >= 0 {
                    initialized = count
                    return
                }
                guard errno == EINTR else {
                    isRefused = true
                    return
                }
            }
        }
        return isRefused ? nil : bytes
    }

    /// Writes all of it; false if the pipe has no reader, or is still full at the deadline.
    ///
    /// Without a reader the thread gets SIGPIPE, which the caller must ignore or expect. A caller that keeps its own reading
    /// end open gets no signal.
    package func write(_ bytes: [UInt8], until deadline: ContinuousClock.Instant) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            // A writable pipe has room for a page, so a write of that size does not block.
            guard ChildProcess.isWritable(writing, until: deadline) else { return false }
            let count = rest.prefix(Self.page).withUnsafeBytes { Glibc.write(writing, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}

/// A thread that lives as long as its work.
///
/// A program that ends with its starting thread cannot be started on a pool's thread, which may end at any time.
package enum PlainThread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    package static func start(_ body: @escaping @Sendable () -> Void) throws(ChildProcessError) {
        let work = Unmanaged.passRetained(Work(body))
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        // As large as a main thread's, because YAML and predicates are parsed recursively.
        pthread_attr_setstacksize(&attributes, 8 << 20)
        var thread = pthread_t()
        let code = pthread_create(
            &thread,
            &attributes,
            { pointer in
                guard let pointer else { return nil }
                Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().body()
                return nil
            },
            work.toOpaque()
        )
        guard code == 0 else {
            work.release()
            throw .cannotStart("a thread", errno: code)
        }
    }
}

/// A cancellation that one thread requests and another checks.
final class CancellationWish: Sendable {
    private let wish = Atomic(false)
    var isMade: Bool { wish.load(ordering: .relaxed) }
    func make() { wish.store(true, ordering: .relaxed) }
}

/// The lines of standard input, in a program that answers the one which started it.
///
/// `readLine()` repeats a call that fails while `errno` is `EINTR`. The C library leaves an older `errno` at the end of the
/// input: a process whose parent was killed would repeat the call forever.
package struct InputLines: Sequence, IteratorProtocol {
    private static let newline = UInt8(ascii: "\n")

    private let descriptor: Int32
    private var pending: [UInt8] = []

    package init(descriptor: Int32 = 0) { self.descriptor = descriptor }

    /// The next line without its end; nil at the end of the input, or after an error of the kernel.
    package mutating func next() -> [UInt8]? {
        var searched = 0
        while true {
            if let end = pending[searched...].firstIndex(of: Self.newline) {
                defer { pending.removeFirst(end + 1) }
                return Array(pending[..<end])
            }
            searched = pending.count
            guard let bytes = Pipe.read(descriptor), !bytes.isEmpty else { break }
            pending += bytes
        }
        defer { pending = [] }
        return pending.isEmpty ? nil : pending
    }
}
