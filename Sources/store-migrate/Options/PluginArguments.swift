import ArgumentParser
import BuiltInStrategies
import FoundationEssentials
import StoreFormat
import StoreMigration
import StoreStrategies
import StrategyProcess

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
