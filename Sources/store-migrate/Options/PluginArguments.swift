public import ArgumentParser
import BuiltInStrategies
import ChangeMerging
import FoundationEssentials
import StoreAccess
import StoreMigration
import StoreStrategies
public import StrategyProcess

/// Where plugins are found, and how they are confined.
struct PluginArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A folder with plugins, programs named store-migrate-strategy-NAME; may be given several times.",
            valueName: "dir"
        )
    )
    var pluginPath: [PathArgument] = []

    @OptionGroup var confinement: SandboxArguments

    /// Throws for a folder that does not exist: its plugins would count as unknown.
    func requireFolders() throws {
        func isFolder(_ path: String) -> Bool {
            var isFolder = false
            return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder
        }
        guard let missing = pluginPath.first(where: { !isFolder($0.path) }) else { return }
        throw Failure(
            outcome: .usage,
            message: "there is no folder of plugins",
            path: missing.path,
            advice: "Check the path of --plugin-path."
        )
    }

    /// The strategy of a name: a built-in one, else a plugin, which the user's signal ends.
    func strategy(named name: String) throws -> any StoreStrategy {
        try requireFolders()
        if let strategy = Self.builtIn(name) { return strategy }
        let locator = PluginLocator(folders: pluginPath.map(\.path))
        if let plugin = try locator.plugin(named: name) {
            return try ProcessStrategy(plugin, sandbox: confinement.sandbox) { Interruption.isRequested }
        }
        throw StrategyError.unknownStrategy(name, among: Self.names(with: locator))
    }

    /// The built-in strategy of a name.
    static func builtIn(_ name: String) -> (any StoreStrategy)? { BuiltInStrategies.all.first { $0.name == name } }

    /// The names of the built-in strategies and of the plugins that a locator finds.
    static func names(with locator: PluginLocator) -> [String] { BuiltInStrategies.all.map(\.name) + locator.names }

    /// The built-in strategies and the plugins, with a finding for each plugin that cannot be asked.
    func strategies() throws -> ([any StoreStrategy], [Finding]) {
        try requireFolders()
        var (strategies, findings) = (BuiltInStrategies.all, [Finding]())
        for name in PluginLocator(folders: pluginPath.map(\.path)).names where Self.builtIn(name) == nil {
            do {
                strategies.append(try strategy(named: name))
            } catch let error as StrategyError {
                findings.append(Finding(.pluginNotListed, .warning, level: .files, error.message))
            }
        }
        return (strategies, findings)
    }

    /// Findings about the strategy's confinement, for verbs that run a strategy without a store.
    func findings(about strategy: any StoreStrategy) -> [Finding] {
        guard let gaps = (strategy as? ProcessStrategy)?.gaps, !gaps.isEmpty else { return [] }
        let things = gaps.map(\.description).joined(separator: ", ")
        let message = "this kernel cannot keep the plugin \(strategy.name) from \(things)"
        return [Finding(.strategyNotConfined, .warning, level: .files, message)]
    }
}

extension Finding.Code {
    /// A plugin in a named folder cannot be asked what it does.
    static let pluginNotListed = Finding.Code(rawValue: "pluginNotListed")
}

/// How plugins, and other programs that decide for the caller, are confined.
struct SandboxArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where the kernel cannot confine a plugin fully (Landlock, seccomp): required or best-effort.",
            valueName: "policy"
        )
    )
    var pluginSandbox: PluginSandbox.Policy = .required

    @Option(
        help: ArgumentHelp(
            "How long a plugin, or the program of --confirm or --resolver, may run in total, at most 30s.",
            valueName: "duration"
        ),
        transform: LockTimeout.init(argument:)
    )
    var pluginTimeout = LockTimeout(seconds: 30)

    func validate() throws { try Self.requireTimeout(pluginTimeout) }

    static func requireTimeout(_ timeout: LockTimeout) throws {
        guard timeout.duration <= PluginSandbox.Limits().deadline, timeout.milliseconds > 0 else {
            throw ValidationError("--plugin-timeout must be more than 0 and at most 30s")
        }
    }

    var sandbox: PluginSandbox {
        var sandbox = PluginSandbox(policy: pluginSandbox)
        sandbox.limits.deadline = pluginTimeout.duration
        return sandbox
    }

    /// A program that decides for the caller; the user's signal ends it.
    func decisions(by program: PathArgument) throws -> DecisionProgram {
        try DecisionProgram(at: program.path, sandbox: sandbox) { Interruption.isRequested }
    }

    /// The program that decides conflicts; nil if the call names none.
    func resolver(_ merging: MergeArguments) throws -> ConflictResolver? {
        try merging.resolver.map { ConflictResolver(try decisions(by: $0)) }
    }
}

extension PluginSandbox.Policy: @retroactive ExpressibleByArgument {}

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
