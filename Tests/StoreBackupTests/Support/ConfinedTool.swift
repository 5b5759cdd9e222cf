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
        let limits = ["prlimit", "--cpu=\(Self.seconds)", "--data=\(Self.bytes)"]
        let words = limits + [Checkout.program("store-migrate")] + arguments
        let command = words.map { "'\($0)'" }.joined(separator: " ")
        // The shell reports a signal as 128 plus its number; the program that feeds the tool ends with the pipe.
        let line = pipe.map { "\($0) | \(command)" } ?? "\(command) \(input)"
        let status = try ChildProgram.run(["sh", "-c", line]).status
        self.status = status > 128 ? 128 - status : status
    }
}
