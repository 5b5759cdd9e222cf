import Foundation

/// Another program at work on an archive: what is left when it is asked, and what it answers.
struct Program {
    let status: Int32
    let output: String

    /// Runs a program of the system's with its answer on standard output, to its end.
    init(_ name: String, _ arguments: [String]) throws {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [name] + arguments
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        status = process.terminationStatus
    }

    var lines: [String] { output.split(separator: "\n").map(String.init) }
}
