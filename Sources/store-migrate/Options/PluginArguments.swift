public import ArgumentParser
import BuiltInStrategies
import FoundationEssentials
import StoreFormat
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

    @Option(
        help: ArgumentHelp(
            "Where the kernel cannot confine a plugin fully (Landlock, seccomp): required or best-effort.",
            valueName: "policy"
        )
    )
    var pluginSandbox: PluginSandbox.Policy = .required

    @Option(
        help: ArgumentHelp(
            "How long a plugin, or the program of --confirm, may run in total, at most 30s.",
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
            var sandbox = PluginSandbox(policy: pluginSandbox)
            sandbox.limits.deadline = pluginTimeout.duration
            return try ProcessStrategy(plugin, sandbox: sandbox) { Interruption.isRequested }
        }
        throw StrategyError.unknownStrategy(name, among: Self.names(with: locator))
    }

    /// The program that accepts or declines plans; the user's signal ends it.
    func confirmation(by program: PathArgument) throws -> ConfirmationProgram {
        var sandbox = PluginSandbox(policy: pluginSandbox)
        sandbox.limits.deadline = pluginTimeout.duration
        return try ConfirmationProgram(at: program.path, sandbox: sandbox) { Interruption.isRequested }
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

extension PluginSandbox.Policy: @retroactive ExpressibleByArgument {}

extension Finding.Code {
    /// A plugin in a named folder cannot be asked what it does.
    static let pluginNotListed = Finding.Code(rawValue: "pluginNotListed")
}
