import ArgumentParser
import FoundationEssentials
import StoreFormat
import StoreMigration
import StoreStrategies
import StrategyProcess

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
