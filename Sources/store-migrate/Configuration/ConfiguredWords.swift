import FoundationEssentials
import StoreMigration
import StoreStrategies
import StrategyProcess

/// The arguments of a call, completed from the environment and a configuration file.
///
/// Precedence: arguments, then environment, then file.
struct ConfiguredWords {
    private static let option = "--config"
    private static let variable = "STORE_MIGRATE_CONFIG"
    private static let verbs = ["share", "plan"]

    /// The options of these verbs that take no value.
    static let flags: Set<String> = [
        "--dry-run", "--strict", "--json", "--quiet", "--verbose", "--no-color", "--allow-network-fs", "--help",
        "--version",
    ]

    let words: [String]

    /// Completes the arguments of `share` and `plan`; other verbs keep theirs.
    ///
    /// A source of higher precedence replaces a list as a whole. Throws ``Failure`` with the position of an invalid value.
    init(_ words: [String], environment: [String: String] = Surroundings.current.environment) throws {
        guard let verb = words.first, Self.verbs.contains(verb),
            !["--help", "-h", "--version"].contains(where: { Self.names($0, in: words) })
        else {
            self.words = words
            return
        }
        var rest = Array(words.dropFirst())
        var decided: [ConfigurationKey: [ConfiguredValue]] = [:]
        if let path = try Self.takeConfiguration(from: &rest) ?? environment[Self.variable], !path.isEmpty {
            decided = try ConfigurationFile(path: path).values
        }
        decided.merge(try Self.values(in: environment)) { _, nearer in nearer }
        // The library reads this variable itself.
        if environment[ConfigurationKey.groups.variable]?.isEmpty == false { decided[.groups] = nil }
        let hasPlace = Self.hasPlace(rest)
        for key in ConfigurationKey.allCases where Self.names(key.option, in: rest) || key.isPlace && hasPlace {
            decided[key] = nil
        }
        let folders = Self.values(of: ConfigurationKey.pluginPath.option, in: rest)
        try Self.requireKnown(
            decided[.strategies] ?? [],
            plugins: folders.isEmpty ? (decided[.pluginPath] ?? []).map(\.text) : folders
        )
        let added = ConfigurationKey.allCases.flatMap { key in
            (decided[key] ?? []).map { key.option + "=" + $0.text }
        }
        self.words = [verb] + added + rest
    }

    private static func values(in environment: [String: String]) throws -> [ConfigurationKey: [ConfiguredValue]] {
        var result: [ConfigurationKey: [ConfiguredValue]] = [:]
        for key in ConfigurationKey.allCases where key != .groups {
            guard let text = environment[key.variable], !text.isEmpty else { continue }
            let origin = ConfiguredValue.Origin.variable(key.variable)
            let texts = key.separator.map { text.split(separator: $0).map(String.init) } ?? [text]
            for text in texts {
                if let objection = key.objection(to: text) { throw origin.refusal(objection) }
            }
            result[key] = texts.map { ConfiguredValue(text: $0, origin: origin) }
        }
        return result
    }

    /// Throws for a strategy that is neither built in nor a plugin.
    private static func requireKnown(_ strategies: [ConfiguredValue], plugins folders: [String]) throws {
        for strategy in strategies {
            let name = String(strategy.text.prefix { $0 != ":" })
            let locator = PluginLocator(folders: folders)
            guard isUnknown(name, to: locator) else { continue }
            let error = StrategyError.unknownStrategy(name, among: PluginArguments.names(with: locator))
            throw strategy.origin.refusal(error.message)
        }
    }

    private static func isUnknown(_ name: String, to locator: PluginLocator) -> Bool {
        guard PluginArguments.builtIn(name) == nil else { return false }
        do {
            return try locator.plugin(named: name) == nil
        } catch {
            // The share reports the error when it starts the plugin.
            return false
        }
    }

    // MARK: Words

    /// True when the arguments name the new store: a second positional argument, or a group.
    private static func hasPlace(_ words: [String]) -> Bool {
        if names("--group", in: words) { return true }
        let options = words.prefix { $0 != "--" }
        var places = words.count - options.count - 1
        if places < 0 { places = 0 }
        var isValue = false
        for word in options {
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

    private static func names(_ option: String, in words: [String]) -> Bool {
        words.prefix { $0 != "--" }.contains { $0 == option || $0.hasPrefix(option + "=") }
    }

    /// The values of an option that may be given several times.
    private static func values(of option: String, in words: [String]) -> [String] {
        let words = Array(words.prefix { $0 != "--" })
        return words.indices.compactMap { index in
            let word = words[index]
            if word.hasPrefix(option + "=") { return String(word.dropFirst(option.count + 1)) }
            return word == option && index + 1 < words.count ? words[index + 1] : nil
        }
    }

    /// Removes `--config` from the arguments and returns its path; nil without that option.
    private static func takeConfiguration(from words: inout [String]) throws -> String? {
        let options = words.prefix { $0 != "--" }
        let places = options.indices.filter { options[$0] == option || options[$0].hasPrefix(option + "=") }
        guard let index = places.first else { return nil }
        guard places.count == 1 else { throw refusal("'\(option)' is given twice") }
        let isSplit = words[index] == option
        let value = isSplit ? options.dropFirst(index + 1).first : String(words[index].dropFirst(option.count + 1))
        guard let value, !value.isEmpty, !isSplit || !value.hasPrefix("-") else {
            throw refusal("'\(option)' needs a file")
        }
        words.removeSubrange(index..<(isSplit ? index + 2 : index + 1))
        return value
    }

    private static func refusal(_ message: String) -> Failure {
        Failure(outcome: .usage, message: message, advice: "Name one configuration file, or leave the option out.")
    }
}
