import StoreMigration

/// A value that a configuration decides, with the place where it is written.
struct ConfiguredValue {
    /// Where a value is written.
    enum Origin {
        case file(String, line: Int, column: Int)
        case variable(String)
    }

    /// As it stands on the command line.
    let text: String
    let origin: Origin
}

extension ConfiguredValue.Origin {
    /// The failure of a call over what is written here.
    func refusal(_ message: String) -> Failure {
        switch self {
        case .file(let path, let line, let column):
            Failure(
                outcome: .usage,
                message: "line \(line), column \(column): \(message)",
                path: path,
                advice: "Mend the configuration; nothing was done."
            )
        case .variable(let name):
            Failure(outcome: .usage, message: "$\(name): \(message)", advice: "Set it right, or unset it.")
        }
    }
}
