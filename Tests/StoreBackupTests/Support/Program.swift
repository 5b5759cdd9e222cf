import TestSupport

/// The result of another program that reads an archive: its exit status and output.
struct Program {
    let status: Int32
    let output: String

    /// Runs a program to its end and captures its standard output.
    init(_ name: String, _ arguments: [String]) throws {
        (status, output) = try ChildProgram.run([name] + arguments)
    }

    var lines: [String] { output.split(separator: "\n").map(String.init) }
}
