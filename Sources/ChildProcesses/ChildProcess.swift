internal import CConfinement
internal import Glibc
internal import Synchronization

/// A program in a process and process group of its own, which is killed when this value is released.
///
/// It is awaited through a pidfd.
package final class ChildProcess: Sendable {
    /// The source or destination of one of the program's streams.
    package enum Stream: Sendable {
        case null
        /// A descriptor of this process, which the caller still owns.
        case descriptor(Int32)
        /// A file, truncated first.
        case file(String)
        /// These bytes, then the end: the program reads them at any time, and no thread has to write them.
        case bytes([UInt8])
    }

    /// Why a wait ended.
    package enum Event: Sendable {
        case ended
        case readable
        case late
    }

    /// How a program ended.
    package enum Ending: Hashable, Sendable, CustomStringConvertible {
        case status(Int32)
        case signal(Int32)

        /// Decodes a status of wait(2), as WIFEXITED and WEXITSTATUS do.
        init(waitStatus status: Int32) {
            self = status & 0x7F == 0 ? .status(status >> 8 & 0xFF) : .signal(status & 0x7F)
        }

        package var description: String {
            switch self {
            case .status(let status): "status \(status)"
            case .signal(let number): "signal \(number)"
            }
        }
    }

    /// How long to wait for the end of a killed group, in milliseconds: disk I/O may keep a process from ending.
    private static let longestEnd: Int32 = 10_000
    /// Serializes starts.
    ///
    /// Until exec, a child has every open file of this process, so a program that checks for other openers must not
    /// meet a child of another thread.
    private static let turn = Mutex(())

    /// The process ID, which is also that of its group.
    package let id: Int32
    /// A pidfd, readable once the process ended.
    private let descriptor: Int32
    private let ending = Mutex<Ending?>(nil)

    /// Starts a program with these streams and no other descriptor; returns when it runs.
    ///
    /// Without `errors`, standard error goes to the output.
    package convenience init(
        _ program: Program,
        input: Stream = .null,
        output: Stream,
        errors: Stream? = nil
    ) throws(ChildProcessError) {
        try self.init(
            adopting: Self.spawn(program, [input, output] + [errors].compactMap(\.self)),
            path: program.path
        )
    }

    /// Takes over a child of this process that leads its own group; only this value waits for the child.
    package init(adopting id: Int32, path: String) throws(ChildProcessError) {
        self.id = id
        descriptor = cconfinement_open_process(id)
        guard descriptor != -1 else {
            let failure = errno
            _ = cconfinement_end_group(id, Self.longestEnd, nil)
            throw .cannotStart(path, errno: failure)
        }
    }

    deinit {
        end()
        close(descriptor)
    }

    /// How the program ended; nil while it runs.
    package var result: Ending? { ending.withLock { reap(&$0) } }

    /// Waits until the program ends, another descriptor is readable, or the deadline passes.
    ///
    /// The kernel keeps the exit status until ``result`` reads it.
    package func wait(for other: Int32? = nil, until deadline: ContinuousClock.Instant) -> Event {
        // Pending output is reported before the end.
        switch Self.ready(of: [other ?? -1, descriptor], until: deadline) {
        case 0?: return .readable
        case 1?: return .ended
        default: return .late
        }
    }

    /// Waits for the program's end; nil if the deadline passes first.
    package func ending(until deadline: ContinuousClock.Instant) -> Ending? {
        _ = wait(until: deadline)
        return result
    }

    /// Sends a signal to the program alone.
    package func signal(_ number: Int32) {
        ending.withLock { if reap(&$0) == nil { kill(id, number) } }
    }

    /// Stops the process, as a system suspends an app; returns once all its threads have stopped, or it has ended.
    ///
    /// False if it has ended. `SIGCONT` lets it continue.
    package func suspend() -> Bool {
        signal(SIGSTOP)
        var info = siginfo_t()
        while waitid(P_PID, id_t(id), &info, WSTOPPED | WEXITED | WNOWAIT) == -1 {
            guard errno == EINTR else { return false }
        }
        return info.si_code == CLD_STOPPED
    }

    /// Sends a signal to the program and its whole group.
    package func signalGroup(_ number: Int32) {
        ending.withLock { if reap(&$0) == nil { kill(-id, number) } }
    }

    /// Kills the program and its group, and waits until the program and each of this process's children in the group
    /// are gone.
    ///
    /// Does nothing if the leader was awaited before, because the kernel may have reused the group's number.
    package func end() {
        ending.withLock { ending in
            guard ending == nil else { return }
            var status: Int32 = -1
            _ = cconfinement_end_group(id, Self.longestEnd, &status)
            if status != -1 { ending = Ending(waitStatus: status) }
        }
    }

    /// Reaps the program if it ended.
    ///
    /// Its number stays reserved until then, so this happens only under the lock.
    @discardableResult
    private func reap(_ ending: inout Ending?) -> Ending? {
        guard ending == nil else { return ending }
        var status: Int32 = 0
        while true {
            let ended = waitpid(id, &status, WNOHANG)
            if ended == id { ending = Ending(waitStatus: status) }
            guard ended == -1, errno == EINTR else { return ending }
        }
    }

    /// The first of these descriptors that is readable or at its end; nil at the deadline.
    ///
    /// A negative one is ignored.
    package static func ready(of descriptors: [Int32], until deadline: ContinuousClock.Instant) -> Int? {
        first(of: descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }, until: deadline)
    }

    /// True once the descriptor accepts bytes, or has no reader; false at the deadline.
    static func isWritable(_ descriptor: Int32, until deadline: ContinuousClock.Instant) -> Bool {
        first(of: [pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)], until: deadline) != nil
    }

    private static func first(of looked: [pollfd], until deadline: ContinuousClock.Instant) -> Int? {
        var looked = looked
        while true {
            let (seconds, attoseconds) = max(.zero, ContinuousClock.now.duration(to: deadline)).components
            let milliseconds = Int32(
                clamping: seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
            )
            let count = poll(&looked, nfds_t(looked.count), milliseconds)
            if count > 0 { return looked.firstIndex { $0.revents != 0 } }
            if count == 0 ? ContinuousClock.now >= deadline : errno != EINTR { return nil }
        }
    }
}

extension ChildProcess {
    private static func spawn(_ program: Program, _ streams: [Stream]) throws(ChildProcessError) -> pid_t {
        let path = program.path
        var descriptors: [Int32] = []
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        for stream in streams {
            let descriptor = open(stream)
            guard descriptor != -1 else { throw .cannotStart(path, errno: errno) }
            if case .descriptor = stream {} else { opened.append(descriptor) }
            descriptors.append(descriptor)
        }
        let (id, failure) = withCStrings(program.words) { arguments in
            withCStrings(program.environment.map { "\($0)=\($1)" }) { environment in
                withCStrings([path] + [program.folder].compactMap(\.self)) { places in
                    var description = cconfinement_program(
                        path: places[0],
                        arguments: arguments,
                        environment: environment,
                        folder: places[1],
                        input: descriptors[0],
                        output: descriptors[1],
                        errors: descriptors[descriptors.count - 1],
                        ends_with_thread: program.endsWithThread ? 1 : 0
                    )
                    return turn.withLock { _ in spawn(&description, program.confinement) }
                }
            }
        }
        guard id != -1 else { throw .cannotStart(path, errno: failure) }
        return id
    }

    private static func spawn(
        _ program: inout cconfinement_program,
        _ confinement: ProcessConfinement?
    ) -> (id: pid_t, errno: Int32) {
        guard let confinement else { return (cconfinement_spawn(&program, nil), errno) }
        var terms = cconfinement_terms(confinement)
        return (cconfinement_spawn(&program, &terms), errno)
    }

    /// A descriptor that no other program inherits; -1 and `errno`.
    private static func open(_ stream: Stream) -> Int32 {
        switch stream {
        case .null: Glibc.open("/dev/null", O_RDWR | O_CLOEXEC)
        case .descriptor(let descriptor): descriptor
        case .file(let path): Glibc.open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        case .bytes(let bytes): bytes.withUnsafeBytes { cconfinement_sealed_input($0.baseAddress, $0.count) }
        }
    }
}

extension cconfinement_terms {
    fileprivate init(_ confinement: ProcessConfinement) {
        self.init(
            ruleset: confinement.ruleset,
            filters_calls: confinement.filtersCalls ? 1 : 0,
            user: confinement.user.map(Int64.init) ?? -1,
            group: confinement.user.map(Int64.init) ?? -1,
            cpu_seconds: confinement.limits.cpuSeconds,
            memory_bytes: confinement.limits.memoryBytes,
            processes: confinement.limits.processes,
            descriptors: confinement.limits.descriptors
        )
    }
}

/// Passes strings as a null-terminated array of C strings.
private func withCStrings<R>(
    _ texts: [String],
    _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R
) -> R {
    let pointers = texts.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return pointers.withUnsafeBufferPointer { buffer in
        guard let start = buffer.baseAddress else { preconditionFailure("the list has at least its terminator") }
        return body(start)
    }
}

extension ChildProcess {
    /// The result of a program that ran to its end.
    package struct Output: Sendable {
        package let ending: Ending
        package let output: [UInt8]
        package let errors: [UInt8]
    }

    /// The interval at which a cancellable caller is asked whether to stop.
    private static let askingInterval = Duration.milliseconds(50)

    /// Runs a program to its end and collects its output; if this throws, no process of its group remains.
    ///
    /// The output ends when every process has closed it, including one that the program left behind. Output longer than
    /// a limit ends the program; only the first bytes of `errors` are kept.
    package static func run(
        _ program: Program,
        input: Stream = .null,
        outputLimit: Int,
        errorLimit: Int,
        until deadline: ContinuousClock.Instant,
        isCancelled: @Sendable () -> Bool = { false }
    ) throws(ChildProcessError) -> Output {
        let (output, errors) = (try Pipe(), try Pipe())
        let child = try ChildProcess(
            program,
            input: input,
            output: .descriptor(output.writing),
            errors: .descriptor(errors.writing)
        )
        defer { child.end() }
        // The program has its own descriptors; closing these makes the end of its output visible.
        output.closeWriting()
        errors.closeWriting()
        var printed: [UInt8] = []
        var complaints: [UInt8] = []
        while output.reading != -1 || errors.reading != -1 {
            switch ready(of: [output.reading, errors.reading], until: min(deadline, .now + askingInterval)) {
            case 0?: take(output) { printed += $0 }
            case 1?: take(errors) { complaints += $0.prefix(max(0, errorLimit - complaints.count)) }
            default: break
            }
            guard printed.count <= outputLimit else { throw .tooMuchOutput(program.path, bytes: outputLimit) }
            try requireTime(for: program, until: deadline, isCancelled)
        }
        while child.wait(until: min(deadline, .now + askingInterval)) != .ended {
            try requireTime(for: program, until: deadline, isCancelled)
        }
        guard let ending = child.result else { throw .late(program.path) }
        return Output(ending: ending, output: printed, errors: complaints)
    }

    /// The same on a separate thread, for a caller that must not block its own; a cancelled task ends the program.
    package static func run(
        _ program: Program,
        input: Stream = .null,
        outputLimit: Int,
        errorLimit: Int,
        within time: Duration
    ) async throws -> Output {
        let wish = CancellationWish()
        var program = program
        // The thread waits for the program, so only the end of this process ends it early.
        program.endsWithThread = true
        let started = program
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let body: @Sendable () -> Void = {
                    continuation.resume(
                        with: Result {
                            try run(
                                started,
                                input: input,
                                outputLimit: outputLimit,
                                errorLimit: errorLimit,
                                until: .now + time,
                                isCancelled: { wish.isMade }
                            )
                        }
                    )
                }
                do { try PlainThread.start(body) } catch { continuation.resume(throwing: error) }
            }
        } onCancel: {
            wish.make()
        }
    }

    private static func take(_ pipe: Pipe, _ sink: ([UInt8]) -> Void) {
        let bytes = pipe.read() ?? []
        if bytes.isEmpty { pipe.closeReading() } else { sink(bytes) }
    }

    private static func requireTime(
        for program: Program,
        until deadline: ContinuousClock.Instant,
        _ isCancelled: () -> Bool
    ) throws(ChildProcessError) {
        if isCancelled() { throw .cancelled(program.path) }
        if deadline <= .now { throw .late(program.path) }
    }
}
