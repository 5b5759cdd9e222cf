package import ChildProcesses
import Foundation
import Glibc
package import SafeFiles
import Synchronization
import TestSupport

/// A program with its arguments and its complete environment.
package struct Command: Sendable {
    /// How a run ended.
    package enum Ending: Hashable, Sendable, CustomStringConvertible {
        case exited(Int32)
        case killed(signal: Int32)
        /// It was still running at the deadline, and was killed.
        case hung

        package var description: String {
            switch self {
            case .exited(let status): "exit \(status)"
            case .killed(let signal): "signal \(signal)"
            case .hung: "no end"
            }
        }
    }

    package let executable: String
    package var arguments: [String]
    package var environment: [String: String] = [:]
    /// The variables that all commands of the tool share, if these are forked from a server; nil for another program.
    private var serverEnvironment: [String: String]?

    /// `exec` in this variable starts a new program for each command of the tool.
    private static let startsVariable = "STORE_MIGRATE_STARTS"

    /// The folder with the tests, their programs and the tool.
    package static var buildFolder: String { Checkout.products }

    /// The variable that names the folder of the debug build of the tests; without it, the folder of this program.
    package static let testsVariable = "STORE_MIGRATE_TEST_BUILD"

    /// The folder with the test bundle.
    package static var testFolder: String { ProcessInfo.processInfo.environment[testsVariable] ?? buildFolder }

    /// The tool with its arguments: by default the one that was built beside the tests.
    ///
    /// The environment variables for seeded bugs and for coverage data are passed on.
    package static func tool(_ arguments: [String]) -> Command {
        let environment = ProcessInfo.processInfo.environment
        var handedOn: [String: String] = [:]
        handedOn["STORE_MIGRATE_SEEDED_BUG"] = environment["FAULT_SUPPORT_SEEDED_BUG"]
        handedOn["LLVM_PROFILE_FILE"] = environment["LLVM_PROFILE_FILE"]
        var command = Command(
            executable: environment["STORE_MIGRATE_TOOL"] ?? buildFolder + "/store-migrate",
            arguments: arguments,
            environment: handedOn
        )
        // A tool built for coverage reads the path of its profile once, when it is loaded.
        let isForked = handedOn["LLVM_PROFILE_FILE"] == nil && environment[startsVariable] != "exec"
        if isForked { command.serverEnvironment = handedOn }
        return command
    }

    /// The tests of one suite, in the test bundle of a build.
    package static func tests(of suite: String, in folder: String = testFolder, environment: [String: String])
        -> Command
    {
        Command(
            executable: folder + "/store-migratePackageTests.xctest",
            arguments: ["--testing-library", "swift-testing", "--filter", suite],
            environment: environment.merging([Tier.variable: Tier.verify.rawValue]) { _, all in all }
        )
    }

    /// The same command as a new program.
    package var started: Command { Command(executable: executable, arguments: arguments, environment: environment) }

    package init(executable: String, arguments: [String], environment: [String: String] = [:]) {
        self.executable = executable
        self.arguments = arguments
        self.environment = environment
    }

    /// Starts the program with its output to a file; the tool is forked from a server.
    package func start(output: String) throws -> ChildProcess {
        if let serverEnvironment {
            return try ToolServer.server(of: executable, environment: serverEnvironment).start(self, output: output)
        }
        return try ChildProcess(Program([executable] + arguments, environment: environment), output: .file(output))
    }

    /// Runs the program to its end with its output to a file.
    package func run(output: String, deadline: Deadline) throws -> Ending {
        Self.ending(of: try start(output: output), killingAfter: deadline)
    }

    /// Waits for the end of a program that may stop; it is continued after `act`.
    package static func ending(
        of process: ChildProcess,
        killingAfter deadline: Deadline,
        whenStopped act: (_ process: Int32) -> Void
    ) -> Ending {
        let (end, watchEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let isHung = Mutex(false)
        Thread {
            if end.wait(timeout: .now() + .milliseconds(Int(deadline.remainingMilliseconds))) == .timedOut {
                isHung.withLock { $0 = true }
                process.signal(SIGKILL)
            }
            watchEnd.signal()
        }
        .start()
        var stop = siginfo_t()
        while true {
            // WNOWAIT leaves an exit to the caller's wait; a stop is consumed, so that the next one is new.
            if waitid(P_PID, id_t(process.id), &stop, WEXITED | WSTOPPED | WNOWAIT) == -1 {
                if errno == EINTR { continue }
                break
            }
            guard stop.si_code == CLD_STOPPED else { break }
            _ = waitid(P_PID, id_t(process.id), &stop, WSTOPPED | WNOHANG)
            act(process.id)
            process.signal(SIGCONT)
        }
        end.signal()
        watchEnd.wait()
        return isHung.withLock { $0 } ? .hung : ending(of: process, killingAfter: deadline)
    }

    /// Waits for a program's end; at the deadline it is killed, which counts as `hung`.
    package static func ending(of process: ChildProcess, killingAfter deadline: Deadline) -> Ending {
        switch process.ending(until: deadline.instant) {
        case .status(let status): return .exited(status)
        case .signal(let number): return .killed(signal: number)
        case nil:
            process.end()
            return .hung
        }
    }

    /// True once the program has ended; the caller still has to wait for it.
    static func hasEnded(_ process: ChildProcess, within time: Duration) -> Bool {
        process.wait(until: .now + time) == .ended
    }

    /// The seconds of processor time that a program has used so far, in units of a hundredth.
    static func processorTime(of process: ChildProcess) -> Double {
        let text = (try? String(contentsOfFile: "/proc/\(process.id)/stat", encoding: .utf8)) ?? ""
        // After the name, which may contain anything and ends with the last parenthesis; see proc(5).
        let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
        guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else { return 0 }
        return (user + system) / 100
    }
}
