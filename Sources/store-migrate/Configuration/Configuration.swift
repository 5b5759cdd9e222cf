import ArgumentParser
import FoundationEssentials
import StoreMigration
import StoreStrategies
import StrategyProcess

/// The options that the environment and a configuration file give to a call.
///
/// Precedence: the call, then the environment, then the file. A source of higher precedence replaces a list as a whole.
struct Configuration {
    private static let option = "--config"
    private static let variable = "STORE_MIGRATE_CONFIG"

    /// The values by key, of the environment or else of the file.
    private var values: [ConfigurationKey: [ConfiguredValue]] = [:]
    /// The new store that the file lists for `old`.
    private var new: ConfiguredValue?

    /// Reads the environment and the file that the call, or else the environment, names.
    ///
    /// Values that the file lists for the store `old` override its other ones. Throws ``Failure`` with the position of an
    /// invalid value.
    private init(file: PathArgument?, old: PathArgument, environment: [String: String]) throws {
        if let file = try Self.file(file, environment) {
            values = file.values
            if let store = file.stores.first(where: { PathArgument(argument: $0.from.text)?.path == old.path }) {
                values.merge(store.values) { _, nearer in nearer }
                new = store.to
            }
        }
        values.merge(try Self.values(in: environment)) { _, nearer in nearer }
        // The library reads this variable itself.
        if environment[ConfigurationKey.groups.variable]?.isEmpty == false { values[.groups] = nil }
    }

    private static func file(_ file: PathArgument?, _ environment: [String: String]) throws -> ConfigurationFile? {
        guard let path = file?.text ?? environment[Self.variable], !path.isEmpty else { return nil }
        return try ConfigurationFile(path: path)
    }

    /// The stores that the file of a verb lists.
    static func stores(
        for verb: some ConfiguredVerb,
        environment: [String: String] = ToolSurroundings.current.environment
    ) throws -> [ConfiguredStore] {
        try file(verb.configuration.config, environment)?.stores ?? []
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

    /// Completes a verb with the options that the words of its call do not name.
    static func complete(
        _ verb: inout some ConfiguredVerb,
        calledWith words: [String],
        environment: [String: String]
    ) throws {
        let options = words.prefix { $0 != "--" }
        guard options.filter({ $0 == option || $0.hasPrefix(option + "=") }).count < 2 else {
            throw Failure(
                outcome: .usage,
                message: "'\(option)' is given twice",
                advice: "Name one configuration file, or leave the option out."
            )
        }
        // The parser takes the next argument as the value instead.
        guard !options.contains(option + "=") else {
            throw Failure(
                outcome: .usage,
                message: "an empty path is invalid for '\(option) <file>'",
                advice: "Name a configuration file, or leave the option out."
            )
        }
        let hasPlace = verb.places.new != nil || verb.places.group.group != nil
        let configuration = try Configuration(
            file: verb.configuration.config,
            old: verb.places.old,
            environment: environment
        )
        let new = hasPlace ? nil : configuration.new
        if let new { verb.places.new = PathArgument(argument: new.text) }
        for (key, values) in configuration.values {
            let isNamed = options.contains { $0 == key.option || $0.hasPrefix(key.option + "=") }
            if !isNamed, !(key.isPlace && (hasPlace || new != nil)) { try key.set(values.map(\.text), in: &verb) }
        }
        let isCalled = options.contains { $0 == "--strategy" || $0.hasPrefix("--strategy=") }
        if !isCalled { try requireKnown(configuration.values[.strategies] ?? [], verb.strategies.plugins) }
    }

    /// Throws for a strategy that is neither built in nor a plugin.
    private static func requireKnown(_ strategies: [ConfiguredValue], _ plugins: PluginArguments) throws {
        let locator = PluginLocator(folders: plugins.pluginPath.map(\.path))
        for strategy in strategies {
            let name = String(strategy.text.prefix { $0 != ":" })
            guard isUnknown(name, to: locator) else { continue }
            try plugins.requireFolders()
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
}

/// A verb whose options a configuration completes.
protocol ConfiguredVerb: LocatingVerb {
    var places: PlacesArguments { get set }
    var previous: PreviousArguments { get set }
    var policy: PolicyOptions { get set }
    var strategies: StrategyArguments { get set }
    var configuration: ConfigurationArguments { get }
    var run: RunOptions { get set }
    var descriptions: PathArgument? { get set }
    var confirm: PathArgument? { get set }
}

extension ConfiguredVerb {
    func requireCompleteOptions() throws {
        try places.requireNew()
        try strategies.requireDistinctRoles()
        try policy.legacy.requireKeys()
        try policy.requireMigrationOptions()
    }
}

extension ConfigurationKey {
    /// Sets the option to values that ``objection(to:)`` accepts; a key that is not a list has one.
    fileprivate func set(_ texts: [String], in verb: inout some ConfiguredVerb) throws {
        guard let text = texts.last else { return }
        let path = PathArgument(argument: text)
        switch self {
        case .group: verb.places.group.group = text
        case .name: verb.places.group.name = text
        case .groups: verb.places.group.groups = path
        case .previous: verb.previous.previous = texts.compactMap(PathArgument.init(argument:))
        case .onSeveral: verb.previous.onSeveral = .init(argument: text) ?? verb.previous.onSeveral
        case .old: verb.policy.old = .init(argument: text)
        case .onBoth: verb.policy.onBoth = .init(argument: text) ?? verb.policy.onBoth
        case .level: verb.policy.level = .init(argument: text) ?? verb.policy.level
        case .model: verb.policy.model = path
        case .migrate: verb.policy.migrate = text == "true"
        case .version: verb.policy.modelVersion = text
        case .ifMissing: verb.policy.ifMissing = .init(argument: text) ?? verb.policy.ifMissing
        case .ifBusy: verb.run.ifBusy = .init(argument: text) ?? verb.run.ifBusy
        case .lockTimeout: verb.run.access.lockTimeout = try LockTimeout(argument: text)
        case .state: verb.run.state = path
        case .strategies: verb.strategies.selections = try texts.map(StrategyArguments.selection)
        case .roles: verb.strategies.roles = try texts.map(StrategyArguments.role)
        case .pluginPath: verb.strategies.plugins.pluginPath = texts.compactMap(PathArgument.init(argument:))
        case .pluginSandbox:
            let confinement = verb.strategies.plugins.confinement
            verb.strategies.plugins.confinement.pluginSandbox = .init(argument: text) ?? confinement.pluginSandbox
        case .pluginTimeout: verb.strategies.plugins.confinement.pluginTimeout = try LockTimeout(argument: text)
        case .confirm: verb.confirm = path
        case .resolver: verb.policy.merging.resolver = path
        case .backup: verb.policy.backup = path
        case .descriptions: verb.descriptions = path
        case .legacyDefaults: verb.policy.legacy.legacyDefaults = texts.compactMap(PathArgument.init(argument:))
        case .legacyKey: verb.policy.legacy.legacyKey = texts
        }
    }
}
