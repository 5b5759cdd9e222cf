import CConfinement
import Glibc
import SafeFiles
import Synchronization
import SystemPackage

/// A program in a process of its own, which leads a group, ends with the thread that started it, and is waited for.
final class ChildProcess: Sendable {
    /// Where a stream of the program comes from or goes to.
    enum Stream {
        case nothing
        case file(String)
        case descriptor(Int32)
    }

    /// What a wait ended with.
    enum Event {
        case ended
        case readable
        case late
    }

    /// How a program ended.
    enum Ending: Equatable {
        case status(Int32)
        case signal(Int32)
    }

    let id: pid_t
    private let ending = Mutex<Ending?>(nil)
    /// Gets its end when the program has one.
    private let endPipe: PipeEnds

    /// Starts a program: its path, then its arguments.
    init(
        _ words: [String],
        environment: [String: String],
        input: Stream = .nothing,
        output: Stream,
        errors: Stream
    ) throws {
        endPipe = try PipeEnds()
        id = try Self.spawn(words, environment, [input, output, errors])
        try wait()
    }

    deinit { end() }

    /// How it ended; nil while it runs.
    var result: Ending? { ending.withLock { $0 } }

    /// Waits until the program ends, a descriptor can be read, or the deadline passes.
    func wait(for descriptor: Int32? = nil, until deadline: Deadline) -> Event {
        var looked = [pollfd(fd: endPipe.reading, events: Int16(POLLIN), revents: 0)]
        if let descriptor { looked.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)) }
        while true {
            let count = poll(&looked, nfds_t(looked.count), deadline.remainingMilliseconds)
            if count > 0 {
                // What was said before the end is heard first.
                return looked.count > 1 && looked[1].revents != 0 ? .readable : .ended
            }
            if count == 0 || errno != EINTR { return .late }
        }
    }

    /// Sends a signal to the program alone.
    func signal(_ number: Int32) {
        ending.withLock { if $0 == nil { kill(id, number) } }
    }

    /// Kills the program and all that it started, and waits until it is gone.
    func end() {
        ending.withLock { if $0 == nil { kill(-id, SIGKILL) } }
        _ = wait(until: Deadline(after: .seconds(10)))
    }

    /// Lets a thread wait for the program; it has it reaped, and tells.
    private func wait() throws {
        let id = id
        try PlainThread.start { [self] in
            var status: Int32 = 0
            // Reaped only under the lock: until then nobody else has its number, and a signal meets nobody else.
            var information = siginfo_t()
            while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) == -1, errno == EINTR {}
            ending.withLock { ending in
                while waitpid(id, &status, 0) == -1, errno == EINTR {}
                ending = status & 0x7F == 0 ? .status(status >> 8 & 0xFF) : .signal(status & 0x7F)
            }
            endPipe.closeWriting()
        }
    }

    private static func spawn(
        _ words: [String],
        _ environment: [String: String],
        _ streams: [Stream]
    ) throws -> pid_t {
        var descriptors: [Int32] = []
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        for stream in streams {
            if case .descriptor(let descriptor) = stream {
                descriptors.append(descriptor)
                continue
            }
            let descriptor = try open(stream)
            opened.append(descriptor)
            descriptors.append(descriptor)
        }
        let path = words.first ?? ""
        let id = withCStrings(words) { words in
            withCStrings(environment.map { "\($0)=\($1)" }) { environment in
                path.withCString { path in
                    var program = cconfinement_program()
                    program.path = path
                    program.arguments = words
                    program.environment = environment
                    (program.input, program.output, program.errors) = (descriptors[0], descriptors[1], descriptors[2])
                    return cconfinement_spawn(&program)
                }
            }
        }
        guard id != -1 else { throw RehearsalFailure("\(path) cannot be started (\(Errno(rawValue: errno)))") }
        return id
    }

    private static func open(_ stream: Stream) throws -> Int32 {
        var path = "/dev/null"
        if case .file(let file) = stream { path = file }
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor != -1 else {
            throw RehearsalFailure("\(path) cannot be opened (\(Errno(rawValue: errno)))")
        }
        return descriptor
    }

    private static func withCStrings<R>(
        _ texts: [String],
        _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>?) -> R
    ) -> R {
        let pointers = texts.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
    }
}
