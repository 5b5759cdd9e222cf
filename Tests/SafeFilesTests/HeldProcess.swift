import Foundation
import TestSupport
import Testing

/// A shell command that reports when it is ready and then runs until it is killed.
final class HeldProcess {
    private let process: ChildProgram

    /// The first line of the script's output.
    let firstLine: String
    var identifier: Int32 { process.id }

    /// Starts `sh -c` with arguments, and returns once the script has printed a line.
    init(_ script: String, _ arguments: String...) throws {
        process = try ChildProgram(["sh", "-c", script, "sh"] + arguments)
        let line = String(decoding: process.available(), as: UTF8.self)
        firstLine = line.trimmingCharacters(in: .newlines)
        try #require(!line.isEmpty, "the script ended without output")
    }

    /// Kills the process, as the kernel would, and waits until it is gone.
    func kill() { process.kill() }
}
