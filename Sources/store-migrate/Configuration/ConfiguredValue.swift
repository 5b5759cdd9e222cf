import StoreFormat
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

/// One of several stores that a configuration lists for one call, with its own values.
struct ConfiguredStore {
    /// The keys that only a listed store has.
    enum Key: String, CaseIterable {
        case from
        case to
        case after
    }

    /// The absolute path of the old store.
    let from: ConfiguredValue
    /// The absolute path of the new store, if it is not in a group.
    let to: ConfiguredValue?
    /// The names of the stores that must be shared first.
    let after: [String]
    /// The values that override those of the whole configuration.
    let values: [ConfigurationKey: [ConfiguredValue]]

    /// The store's name in `after` and in results.
    var name: String { PathArgument(argument: from.text)?.location.name ?? from.text }
}
