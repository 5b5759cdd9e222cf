import ChildProcesses
import Foundation
import Glibc
import SystemPackage
import TestSupport

@testable import store_migrate

/// The built tool, run as a process or called in the process of the tests.
enum Tool {
    /// The output and the exit status of a run.
    struct Run {
        let status: Int32
        let output: String
        let errors: String

        /// The lines of standard output.
        var lines: [String] { output.split(separator: "\n").map(String.init) }
        /// The lines of standard error.
        var errorLines: [String] { errors.split(separator: "\n").map(String.init) }
    }

    /// A program that could not be started, or was killed.
    struct Failure: Error {
        let words: [String]
        let status: String
        let errors: String
    }

    /// The tool beside the test bundle, where the build puts both.
    static var path: String {
        get throws {
            let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            return FilePath(bundle).removingLastComponent().appending("store-migrate").string
        }
    }

    /// The folder of the package.
    static let package = Checkout.path

    /// The time after which a hanging program is killed, with its children.
    private static let patience = Duration.seconds(900)

    /// Inherited variables that would change the tool's output.
    private static let unwanted = ["NO_COLOR", "STORE_MIGRATE_GROUPS"]

    /// Calls the tool in this process, with files as its streams.
    ///
    /// Tests of signals, pipes, users, locks and leftovers, and of variables that the libraries read, need a process: see
    /// ``runProcess(_:environment:folder:)``.
    static func run(_ arguments: [String], environment: [String: String] = [:], folder: String? = nil) async throws
        -> Run
    {
        let (output, errors) = (try CapturedStream(), try CapturedStream())
        var surroundings = ToolSurroundings()
        surroundings.output = StandardStream(descriptor: output.descriptor)
        surroundings.error = StandardStream(descriptor: errors.descriptor)
        for name in unwanted { surroundings.environment[name] = nil }
        surroundings.environment.merge(environment) { _, given in given }
        surroundings.folder = folder
        surroundings.program = try path
        surroundings.ownsProcess = false
        let status = await withCheckedContinuation { continuation in
            Thread { [surroundings] in
                let status = ToolSurroundings.$current.withValue(surroundings) { Launch.status(of: arguments) }
                continuation.resume(returning: status)
            }
            .start()
        }
        return Run(status: status, output: try output.text(), errors: try errors.text())
    }

    /// Starts the tool with the arguments.
    static func runProcess(_ arguments: [String], environment: [String: String] = [:], folder: String? = nil)
        async throws -> Run
    {
        try await run(command: [try path] + arguments, environment: environment, folder: folder)
    }

    /// Runs any program; the first word is its name or path.
    static func run(
        command words: [String],
        environment: [String: String] = [:],
        folder: String? = nil
    ) async throws -> Run {
        var variables = Program.inheritedEnvironment
        for name in unwanted { variables[name] = nil }
        let result = try await ChildProcess.run(
            Program(words, environment: variables.merging(environment) { _, own in own }, folder: folder),
            outputLimit: 64 << 20,
            errorLimit: 16 << 20,
            within: patience
        )
        let errors = String(decoding: result.errors, as: UTF8.self)
        guard case .status(let status) = result.ending else {
            throw Failure(words: words, status: "\(result.ending)", errors: errors)
        }
        return Run(status: status, output: String(decoding: result.output, as: UTF8.self), errors: errors)
    }
}

/// An unnamed temporary file that captures a stream.
private final class CapturedStream {
    let descriptor: Int32

    init() throws {
        var path = Array((FileManager.default.temporaryDirectory.path + "/store-migrate-stream-XXXXXX").utf8CString)
        descriptor = mkstemp(&path)
        guard descriptor >= 0 else { throw Errno(rawValue: errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(path)
    }

    deinit { close(descriptor) }

    func text() throws -> String {
        var bytes = [UInt8](repeating: 0, count: Int(lseek(descriptor, 0, SEEK_END)))
        guard pread(descriptor, &bytes, bytes.count, 0) == bytes.count else { throw Errno(rawValue: errno) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
