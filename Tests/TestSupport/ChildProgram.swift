import CTestSupport
import FoundationEssentials
package import Glibc

/// Another program that a test runs: it inherits its three streams and nothing else, so that nobody who waits for the end
/// of a pipe or of a process waits for a third.
///
/// Whatever goes on for longer than any test may is killed, and what waited for it fails.
package final class ChildProgram {
    /// What the program's standard error is.
    package enum Errors {
        case inherited
        case discarded
        case withOutput
    }

    package struct CannotStart: Error {
        package let program: String
        package let number: Int32
    }

    /// How long any program of a test may take, in milliseconds.
    package static let patience: Int64 = 900_000

    package let id: pid_t
    private var input: Int32?
    private let output: Int32
    private var ending: Int32?

    /// Starts a program, which is looked for as a shell does, with a pipe for each of its standard input and output.
    package init(
        _ words: [String],
        environment: [String: String] = [:],
        errors: Errors = .inherited
    ) throws {
        let (theirs, input) = try Self.pipe()
        defer { close(theirs) }
        let (output, written) = try Self.pipe()
        defer { close(written) }
        self.input = input
        self.output = output
        id = try Self.spawn(words, environment, input: theirs, output: written, errors)
    }

    deinit {
        kill()
        closeInput()
        close(output)
    }

    /// Writes to its standard input.
    package func say(_ text: String) {
        var rest = Array(text.utf8)[...]
        while let input, !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                return
            }
        }
    }

    package func closeInput() {
        if let input { close(input) }
        input = nil
    }

    /// What it has printed meanwhile, waiting for something; empty at the end of its output.
    ///
    /// A program that prints nothing for `time` is killed.
    package func available(within time: Duration = .milliseconds(patience)) -> [UInt8] {
        let (seconds, attoseconds) = max(time, .zero).components
        guard ctest_wait(output, seconds * 1_000_000_000 + attoseconds / 1_000_000_000) == 1 else {
            signal(SIGKILL)
            return []
        }
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(output, &chunk, chunk.count)
            if count >= 0 { return Array(chunk[..<count]) }
            guard errno == EINTR else { return [] }
        }
    }

    /// All that it still prints; if that takes longer than `time` it is killed.
    package func rest(within time: Duration = .milliseconds(patience)) -> [UInt8] {
        let end = ContinuousClock.now + time
        var bytes: [UInt8] = []
        while case let chunk = available(within: end - .now), !chunk.isEmpty {
            bytes += chunk
            if ContinuousClock.now > end { signal(SIGKILL) }
        }
        return bytes
    }

    package func signal(_ number: Int32) {
        if ending == nil { _ = Glibc.kill(id, number) }
    }

    /// Kills it, and waits until it is gone.
    package func kill() {
        signal(SIGKILL)
        _ = wait()
    }

    /// Waits for its end; its exit status, or the negative number of the signal that ended it.
    package func wait() -> Int32 {
        if let ending { return ending }
        let process = ctest_open_process(id)
        if process == -1 || ctest_wait(process, Self.patience * 1_000_000) != 1 { signal(SIGKILL) }
        if process != -1 { close(process) }
        var status: Int32 = 0
        while waitpid(id, &status, 0) == -1, errno == EINTR {}
        let result = status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
        ending = result
        return result
    }

    /// Runs a program that reads nothing to its end: its status as ``wait()`` tells it, and what it printed.
    package static func run(
        _ words: [String],
        environment: [String: String] = [:],
        errors: Errors = .withOutput
    ) throws -> (status: Int32, output: String) {
        let program = try ChildProgram(words, environment: environment, errors: errors)
        program.closeInput()
        let output = program.rest()
        return (program.wait(), String(decoding: output, as: UTF8.self))
    }

    /// The ends of a pipe that no other program inherits: to read, and to write.
    private static func pipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard ctest_pipe(&ends) == 0 else { throw CannotStart(program: "pipe", number: errno) }
        return (ends[0], ends[1])
    }

    private static func spawn(
        _ words: [String],
        _ environment: [String: String],
        input: Int32,
        output: Int32,
        _ errors: Errors
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        switch errors {
        case .inherited: break
        case .discarded: posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        case .withOutput: posix_spawn_file_actions_adddup2(&actions, output, 2)
        }
        ctest_close_from(&actions, 3)
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        let variables = ProcessInfo.processInfo.environment.merging(environment) { _, own in own }
        var arguments = words.map { strdup($0) } + [nil]
        var settings = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in arguments + settings { free(text) } }
        var id: pid_t = 0
        let program = words.first ?? ""
        let code = ChildStart.inTurn { posix_spawnp(&id, program, &actions, &attributes, &arguments, &settings) }
        guard code == 0 else { throw CannotStart(program: program, number: code) }
        return id
    }
}
