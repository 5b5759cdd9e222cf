package import SafeFiles

/// A program of a scenario.
package struct Actor: Sendable {
    package let name: String
    package let executable: String
    package let arguments: [String]
    package let environment: [String: String]

    package init(_ name: String, _ executable: String, _ arguments: [String], environment: [String: String] = [:]) {
        self.name = name
        self.executable = executable
        self.arguments = arguments
        self.environment = environment
    }
}

/// Some programs that work on the same files, and the rules for what they leave.
package protocol Scenario: Sendable {
    /// The name on the command line and in files of schedules.
    var name: String { get }
    /// The programs, for a root at this path; always the same number.
    func actors(_ root: String) -> [Actor]
    /// Makes the files with which each run begins, in an empty root.
    func prepare(_ root: Directory) throws
    /// Judges what the programs of a run printed and left.
    func objections(to run: Run, in root: Directory) throws -> [String]
}
