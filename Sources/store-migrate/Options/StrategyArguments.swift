import ArgumentParser
import StoreStrategies

/// How the programs that share the store open it.
struct StrategyArguments: ParsableArguments {
    @Option(
        name: .customLong("strategy"),
        help: ArgumentHelp(
            "A strategy for opening the store, with its options; may be given several times.",
            valueName: "name[:key=value,…]"
        ),
        transform: Self.selection
    )
    var selections: [StrategySelection] = []

    @Option(
        name: .customLong("role"),
        help: ArgumentHelp(
            "A program that opens the store, app or extension(NAME), with its model; may be given several times.",
            valueName: "role[=model]"
        ),
        transform: Self.role
    )
    var roles: [ProgramRole] = []

    @OptionGroup var plugins: PluginArguments

    /// Throws when the call, or its configuration, names a role twice.
    func requireDistinctRoles() throws {
        var seen: Set<StoreRole> = []
        guard let twice = roles.first(where: { !seen.insert($0.role).inserted }) else { return }
        throw ValidationError("the role \(twice.role) is named twice")
    }

    /// The named strategies, in their order, for the named roles.
    func pipeline() throws -> StrategyPipeline {
        // A plugin that is named twice has one timeout for both.
        var strategies: [String: any StoreStrategy] = [:]
        let steps = try selections.map { selection in
            let strategy = try strategies[selection.name] ?? plugins.strategy(named: selection.name)
            strategies[selection.name] = strategy
            return StrategyPipeline.Step(strategy, options: selection.options)
        }
        return StrategyPipeline(steps, roles: roles)
    }

    static func selection(_ text: String) throws -> StrategySelection {
        do {
            return try StrategySelection(text)
        } catch {
            throw ValidationError(error.message)
        }
    }

    static func role(_ text: String) throws -> ProgramRole {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let role = parts.first.flatMap(StoreRole.init), parts.count == 1 || !parts[1].isEmpty else {
            throw ValidationError("write app or extension(name), and =FILE after it for the model it carries")
        }
        return ProgramRole(role, modelFile: parts.count == 2 ? parts[1] : nil)
    }
}
