import TestSupport

/// Another program at work on an archive: what is left when it is asked, and what it answers.
struct Program {
    let status: Int32
    let output: String

    /// Runs a program of the system's with its answer on standard output, to its end.
    init(_ name: String, _ arguments: [String]) throws {
        (status, output) = try ChildProgram.run([name] + arguments)
    }

    var lines: [String] { output.split(separator: "\n").map(String.init) }
}
