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
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for (number, stream) in streams.enumerated() {
            let number = Int32(number)
            switch stream {
            case .nothing:
                posix_spawn_file_actions_addopen(&actions, number, "/dev/null", number == 0 ? O_RDONLY : O_WRONLY, 0)
            case .file(let path):
                posix_spawn_file_actions_addopen(&actions, number, path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
            case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, number)
            }
        }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for number in [SIGPIPE, SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = Int32(POSIX_SPAWN_SETPGROUP) | Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETSIGMASK)
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var id: pid_t = 0
        let path = words.first ?? ""
        let code = withCStrings(words) { words in
            withCStrings(environment.map { "\($0)=\($1)" }) { environment in
                posix_spawn(&id, path, &actions, &attributes, words, environment)
            }
        }
        guard code == 0 else {
            throw RehearsalFailure("\(path) cannot be started (\(Errno(rawValue: code)))")
        }
        return id
    }

    private static func withCStrings<R>(
        _ texts: [String],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> R
    ) -> R {
        let pointers = texts.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        return body(pointers + [nil])
    }
}
