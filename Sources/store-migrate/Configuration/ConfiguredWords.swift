import FoundationEssentials

/// The words of a call with what a configuration file and the environment add to them: file < environment < words.
struct ConfiguredWords {
    private static let variable = "STORE_MIGRATE_CONFIG"
    private static let verbs = ["share", "plan"]

    let words: [String]

    /// Adds to the words of `share` and `plan`; those of other verbs stay as they are.
    ///
    /// What is decided nearer to the call replaces what is decided further away, lists as a whole.
    init(_ words: [String], environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        guard let verb = words.first, Self.verbs.contains(verb) else {
            self.words = words
            return
        }
        var rest = Array(words.dropFirst())
        var decided: [ConfigurationKey: [String]] = [:]
        if let path = Self.takeOption("--config", from: &rest) ?? environment[Self.variable], !path.isEmpty {
            decided = try ConfigurationFile(path: path).values
        }
        for key in ConfigurationKey.allCases where key != .groups {
            guard let text = environment[key.variable], !text.isEmpty else { continue }
            decided[key] = key.isList ? text.split(separator: " ").map(String.init) : [text]
        }
        let hasPlace = Self.hasPlace(rest)
        if verb == "plan" { decided[.descriptions] = nil }
        var added: [String] = []
        for key in ConfigurationKey.allCases {
            guard let values = decided[key], !Self.names(key.option, in: rest), !(key.isPlace && hasPlace) else {
                continue
            }
            for value in values { added += [key.option + "=" + value] }
        }
        self.words = [verb] + added + rest
    }

    /// True when the words name the new place themselves: a second place that is no option's value, or a group.
    private static func hasPlace(_ words: [String]) -> Bool {
        if names("--group", in: words) { return true }
        var places = 0
        var isValue = false
        for word in words {
            if isValue {
                isValue = false
            } else if word.hasPrefix("-") {
                isValue = word.hasPrefix("--") && !word.contains("=") && !flags.contains(word)
            } else {
                places += 1
            }
        }
        return places > 1
    }

    /// The options of these verbs that take no value.
    private static let flags: Set<String> = [
        "--dry-run", "--strict", "--json", "--quiet", "--verbose", "--no-color", "--allow-network-fs", "--help",
        "--version",
    ]

    private static func names(_ option: String, in words: [String]) -> Bool {
        words.prefix { $0 != "--" }.contains { $0 == option || $0.hasPrefix(option + "=") }
    }

    /// Takes an option with its value out of the words; nil when it is not there.
    private static func takeOption(_ option: String, from words: inout [String]) -> String? {
        guard
            let index = words.prefix(while: { $0 != "--" })
                .firstIndex(where: { $0 == option || $0.hasPrefix(option + "=") })
        else { return nil }
        let word = words.remove(at: index)
        if word != option { return String(word.dropFirst(option.count + 1)) }
        return index < words.count ? words.remove(at: index) : ""
    }
}
