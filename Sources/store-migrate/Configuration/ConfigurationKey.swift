import ArgumentParser
import FoundationEssentials
import StoreAccess
import StoreMigration
import StoreStrategies
import StrategyProcess

/// The keys of a configuration file and the environment; each is the option of `share` and `plan` of the same name.
enum ConfigurationKey: String, CaseIterable {
    case group
    case name
    case groups
    case previous
    case onSeveral = "on-several"
    case old
    case onBoth = "on-both"
    case level
    case model
    case migrate
    case version
    case ifMissing = "if-missing"
    case ifBusy = "if-busy"
    case lockTimeout = "lock-timeout"
    case state
    case strategies
    case roles
    case pluginPath = "plugin-path"
    case pluginSandbox = "plugin-sandbox"
    case pluginTimeout = "plugin-timeout"
    case confirm
    case resolver
    case backup
    case descriptions
    case legacyDefaults = "legacy-defaults"
    case legacyKey = "legacy-key"

    /// The option on the command line.
    var option: String {
        switch self {
        case .strategies: "--strategy"
        case .roles: "--role"
        default: "--" + rawValue
        }
    }

    /// The environment variable.
    var variable: String {
        "STORE_MIGRATE_" + rawValue.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }

    /// True for keys whose value is a list.
    var isList: Bool { separator != nil }

    /// The separator of list elements in the environment variable; nil for keys that are not lists.
    var separator: Character? {
        switch self {
        case .strategies, .roles, .legacyKey: " "
        case .previous, .pluginPath, .legacyDefaults: ":"
        default: nil
        }
    }

    /// True for paths; a relative path starts at the folder of the configuration file.
    var isPath: Bool {
        switch self {
        case .groups, .previous, .model, .state, .pluginPath, .confirm, .resolver, .backup, .descriptions,
            .legacyDefaults:
            true
        default: false
        }
    }

    /// True for keys that name the new store; a new store on the command line overrides all of them.
    var isPlace: Bool { self == .group || self == .name || self == .groups }
}

extension ConfigurationKey {
    /// The error message for an invalid value of this key, as the option words it; nil for a valid value.
    func objection(to text: String) -> String? {
        switch self {
        case .old: choice(ShareOptions.OldStorePolicy.self, text)
        case .onSeveral: choice(ShareOptions.SeveralStoresPolicy.self, text)
        case .onBoth: choice(ShareOptions.BothPlacesPolicy.self, text)
        case .level: choice(VerificationLevel.self, text)
        case .ifMissing: choice(ShareOptions.MissingPolicy.self, text)
        case .ifBusy: choice(ShareOptions.BusyPolicy.self, text)
        case .pluginSandbox: choice(PluginSandbox.Policy.self, text)
        case .lockTimeout: message { _ = try LockTimeout(argument: text) }
        case .pluginTimeout: message { try SandboxArguments.requireTimeout(LockTimeout(argument: text)) }
        case .roles: message { _ = try StrategyArguments.role(text) }
        case .strategies: message { try Self.requireSound(StrategyArguments.selection(text)) }
        case .group: message { try GroupOptions.requireIdentifier(text) }
        case .name: message { try GroupOptions.requireName(text) }
        case .migrate:
            ["true", "false"].contains(text) ? nil : "'\(text)' is not a value of 'migrate'; use true, false"
        case .groups, .previous, .model, .version, .state, .pluginPath, .confirm, .resolver, .backup, .descriptions,
            .legacyDefaults, .legacyKey:
            nil
        }
    }

    private func choice<Value: ExpressibleByArgument>(_ type: Value.Type, _ text: String) -> String? {
        guard Value(argument: text) == nil else { return nil }
        return "'\(text)' is not a value of '\(rawValue)'; use \(type.allValueStrings.joined(separator: ", "))"
    }

    private func message(_ check: () throws -> Void) -> String? {
        do {
            try check()
            return nil
        } catch let error as ValidationError {
            return error.message
        } catch {
            return "\(error)"
        }
    }

    /// Throws when a built-in strategy rejects its options; plugins are checked when they run.
    private static func requireSound(_ selection: StrategySelection) throws {
        guard let strategy = PluginArguments.builtIn(selection.name) else { return }
        let step = StrategyPipeline.Step(strategy, options: selection.options)
        for role in [StoreRole.app, .extension("any")] {
            let description = PersistentStoreDescription(url: URL(filePath: "/"))
            let request = StrategyRequest(facts: StoreFacts(), role: role, description: description)
            do {
                _ = try step.answer(to: request)
            } catch {
                // Other errors depend on the store, which is not open yet.
                if [.unknownOption, .invalidOption].contains(error.code) { throw error }
            }
        }
    }
}

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
