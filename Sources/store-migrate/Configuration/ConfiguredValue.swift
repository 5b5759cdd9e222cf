import StoreMigration

/// A configured value, with the position where it is written.
struct ConfiguredValue {
    /// Where a value is written.
    enum Origin {
        case file(String, line: Int, column: Int)
        case variable(String)
    }

    /// The value in the form of the command line.
    let text: String
    let origin: Origin
}

extension ConfiguredValue.Origin {
    /// The failure of a call because of the value at this position.
    func refusal(_ message: String) -> Failure {
        switch self {
        case .file(let path, let line, let column):
            Failure(
                outcome: .usage,
                message: "line \(line), column \(column): \(message)",
                path: path,
                advice: "Fix the configuration; nothing was done."
            )
        case .variable(let name):
            Failure(outcome: .usage, message: "$\(name): \(message)", advice: "Correct the variable, or unset it.")
        }
    }
}
