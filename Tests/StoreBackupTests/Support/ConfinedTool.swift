import Foundation
import TestSupport

/// The built tool under kernel limits: ten seconds of CPU time and 256 MiB of private memory.
struct ConfinedTool {
    static let seconds = 10
    static let bytes = 256 << 20

    /// The exit status, or the negative number of the signal that ended it.
    let status: Int32

    /// Runs the tool with a file, or what a shell command prints, as its standard input.
    init(_ arguments: [String], input: String = "</dev/null", pipe: String? = nil) throws {
        let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let candidates = [products, URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()]
        let tool =
            candidates.map { $0.appendingPathComponent("store-migrate").path }
            .first { FileManager.default.isExecutableFile(atPath: $0) } ?? "store-migrate"
        let words = ["prlimit", "--cpu=\(Self.seconds)", "--data=\(Self.bytes)", tool] + arguments
        let command = words.map { "'\($0)'" }.joined(separator: " ")
        // The shell reports a signal as 128 plus its number; the program that feeds the tool ends with the pipe.
        let line = pipe.map { "\($0) | \(command)" } ?? "\(command) \(input)"
        let status = try ChildProgram.run(["sh", "-c", line]).status
        self.status = status > 128 ? 128 - status : status
    }
}
