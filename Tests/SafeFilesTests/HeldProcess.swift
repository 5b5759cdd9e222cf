import Foundation
import Testing

/// A shell command that says when it is ready and then stays until it is ended.
final class HeldProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// What the script printed.
    let firstLine: String
    var identifier: Int32 { process.processIdentifier }

    /// Starts `sh -c` with arguments, and returns once the script has printed a line.
    init(_ script: String, _ arguments: String...) throws {
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", script, "sh"] + arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        firstLine = line.trimmingCharacters(in: .newlines)
        try #require(!line.isEmpty, "the script ended without a word")
    }

    deinit { kill() }

    /// Kills the process, as the kernel would, and waits until it is gone.
    func kill() {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
