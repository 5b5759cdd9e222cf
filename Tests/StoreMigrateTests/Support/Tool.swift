import ChildProcesses
import FoundationEssentials
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

    /// After so long whatever hangs is ended, with all that it started.
    private static let patience = Duration.seconds(900)

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
        var variables = Program.inheritedEnvironment
        for name in ["NO_COLOR", "STORE_MIGRATE_GROUPS"] { variables[name] = nil }
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
