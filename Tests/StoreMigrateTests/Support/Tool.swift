import FoundationEssentials
import Subprocess
import SystemPackage

/// The built tool, run as a user runs it.
enum Tool {
    /// What a run left on its streams, and its exit status.
    struct Run {
        let status: Int32
        let output: String
        let errors: String

        /// The lines of standard output.
        var lines: [String] { output.split(separator: "\n").map(String.init) }
        /// The lines of standard error.
        var errorLines: [String] { errors.split(separator: "\n").map(String.init) }
    }

    /// Something that could not be run at all, or was killed.
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
    static let package = FilePath(#filePath).removingLastComponent().removingLastComponent().removingLastComponent()
        .removingLastComponent().string

    /// After so many seconds whatever hangs is ended, with all that it started, and fails with status 124.
    private static let patience = ["-k", "10", "900"]

    /// Runs the tool with the arguments.
    static func run(_ arguments: [String], environment: [String: String] = [:], folder: String? = nil) async throws
        -> Run
    {
        try await run(command: [try path] + arguments, environment: environment, folder: folder)
    }

    /// Runs any program; the first word is its name or path.
    static func run(
        command words: [String],
        environment: [String: String] = [:],
        folder: String? = nil
    ) async throws -> Run {
        // What the tests run under must not decide what the tool prints.
        var variables: [Environment.Key: String?] = ["NO_COLOR": nil, "STORE_MIGRATE_GROUPS": nil]
        for (name, value) in environment { variables[Environment.Key(stringLiteral: name)] = value }
        let result = try await Subprocess.run(
            .name("timeout"),
            arguments: Arguments(patience + words),
            environment: .inherit.updating(variables),
            workingDirectory: folder.map { FilePath($0) },
            output: .string(limit: 64 << 20),
            error: .string(limit: 16 << 20)
        )
        guard case .exited(let status) = result.terminationStatus else {
            throw Failure(words: words, status: "\(result.terminationStatus)", errors: result.standardError)
        }
        return Run(status: status, output: result.standardOutput, errors: result.standardError)
    }
}
