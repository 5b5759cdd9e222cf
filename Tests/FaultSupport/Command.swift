import CTestSupport
import Foundation
package import Glibc
package import SafeFiles
import Synchronization
import SystemPackage
import TestSupport

/// A program with its arguments and its whole environment.
package struct Command: Sendable {
    /// How a run ended.
    package enum Ending: Hashable, Sendable, CustomStringConvertible {
        case exited(Int32)
        case killed(signal: Int32)
        /// It was still running at the deadline, and was killed for it.
        case hung

        package var description: String {
            switch self {
            case .exited(let status): "exit \(status)"
            case .killed(let signal): "signal \(signal)"
            case .hung: "no end"
            }
        }
    }

    package var executable: String
    package var arguments: [String]
    package var environment: [String: String] = [:]

    /// The folder that holds the tests and their programs, and with them the tool.
    package static var buildFolder: String {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
    }

    /// The tool with its arguments: the one that was built beside the tests, unless another one is named.
    ///
    /// A known mistake that it is to make, so that the tests can be tried, is handed on, and so is where a tool that was
    /// built to count what is reached of it writes that down.
    package static func tool(_ arguments: [String]) -> Command {
        let environment = ProcessInfo.processInfo.environment
        var handedOn: [String: String] = [:]
        handedOn["STORE_MIGRATE_SEEDED_BUG"] = environment["FAULT_SUPPORT_SEEDED_BUG"]
        handedOn["LLVM_PROFILE_FILE"] = environment["LLVM_PROFILE_FILE"]
        return Command(
            executable: environment["STORE_MIGRATE_TOOL"] ?? buildFolder + "/store-migrate",
            arguments: arguments,
            environment: handedOn
        )
    }

    /// All tests of one suite, of those that were built beside this program.
    package static func tests(of suite: String, environment: [String: String]) -> Command {
        Command(
            executable: buildFolder + "/store-migratePackageTests.xctest",
            arguments: ["--testing-library", "swift-testing", "--filter", suite],
            environment: environment.merging([Tier.variable: Tier.verify.rawValue]) { _, all in all }
        )
    }

    package init(executable: String, arguments: [String], environment: [String: String] = [:]) {
        self.executable = executable
        self.arguments = arguments
        self.environment = environment
    }

    /// Starts the program, its words going to a file.
    package func start(output: String) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // Whoever waits for the end of a pipe of ours waits for no other child.
        ctest_close_from(&actions, 3)

        var process: pid_t = 0
        let result = Self.withCStrings([executable] + arguments) { arguments in
            Self.withCStrings(environment.map { "\($0)=\($1)" }) { environment in
                ChildStart.inTurn { posix_spawn(&process, executable, &actions, nil, arguments, environment) }
            }
        }
        guard result == 0 else { throw Errno(rawValue: result) }
        return process
    }

    /// Runs the program to its end, its words going to a file.
    package func run(output: String, deadline: Deadline) throws -> Ending {
        try Self.ending(of: start(output: output), killingAfter: deadline)
    }

    /// The same for a program that may stop; it goes on after `act`.
    package static func ending(
        of process: pid_t,
        killingAfter deadline: Deadline,
        whenStopped act: () -> Void
    ) -> Ending {
        let (end, watchEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let isHung = Mutex(false)
        Thread {
            if end.wait(timeout: .now() + .milliseconds(Int(deadline.remainingMilliseconds))) == .timedOut {
                isHung.withLock { $0 = true }
                kill(process, SIGKILL)
            }
            watchEnd.signal()
        }
        .start()
        var status: Int32 = 0
        while true {
            if waitpid(process, &status, WUNTRACED) == -1 && errno == EINTR { continue }
            // As WIFSTOPPED takes it apart.
            guard status & 0xFF == 0x7F else { break }
            act()
            kill(process, SIGCONT)
        }
        end.signal()
        watchEnd.wait()
        return isHung.withLock { $0 } ? .hung : ending(status)
    }

    /// As WIFEXITED and WEXITSTATUS take it apart.
    private static func ending(_ status: Int32) -> Ending {
        status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: status & 0x7F)
    }

    /// Waits for a program's end; at the deadline it is killed, which counts as `hung`.
    package static func ending(of process: pid_t, killingAfter deadline: Deadline) -> Ending {
        let isOver = wait(for: process, until: deadline)
        if !isOver { kill(process, SIGKILL) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) == -1 && errno == EINTR {}
        guard isOver else { return .hung }
        return ending(status)
    }

    /// True once the program has ended; it is still to be waited for.
    static func hasEnded(_ process: pid_t, within time: Duration) -> Bool {
        wait(for: process, until: Deadline(after: time))
    }

    /// The seconds of processor time that a program has used so far, in units of a hundredth.
    static func processorTime(of process: pid_t) -> Double {
        let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
        // Behind the name, which may hold anything but ends with the last parenthesis; see proc(5).
        let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
        guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else { return 0 }
        return (user + system) / 100
    }

    private static func wait(for process: pid_t, until deadline: Deadline) -> Bool {
        let descriptor = ctest_open_process(process)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        while !deadline.hasPassed {
            let (seconds, attoseconds) = deadline.remaining.components
            if ctest_wait(descriptor, seconds * 1_000_000_000 + attoseconds / 1_000_000_000) == 1 { return true }
        }
        return false
    }

    private static func withCStrings<Result>(
        _ strings: [String],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let pointers = strings.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        return body(pointers + [nil])
    }
}
