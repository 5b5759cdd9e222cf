public import ArgumentParser
import BuiltInStrategies
import StoreStrategies
public import StrategyProcess

/// Where strategies of other people are found, and how they are kept.
struct PluginArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A folder with plugins, programs named store-migrate-strategy-NAME; several times.",
            valueName: "dir"
        )
    )
    var pluginPath: [PathArgument] = []

    @Option(
        help: ArgumentHelp(
            "On a kernel that cannot keep a plugin from files (Landlock): required or best-effort.",
            valueName: "policy"
        )
    )
    var pluginSandbox: PluginSandbox.Policy = .required

    /// The strategy of a name: one that comes with the tool, else a plugin.
    func strategy(named name: String) throws(StrategyError) -> any StoreStrategy {
        if let strategy = BuiltInStrategies.named(name) { return strategy }
        if let plugin = try PluginLocator(folders: pluginPath.map(\.path)).plugin(named: name) {
            return try ProcessStrategy(plugin, sandbox: PluginSandbox(policy: pluginSandbox))
        }
        let known = BuiltInStrategies.all.map(\.name).joined(separator: ", ")
        let places = pluginPath.isEmpty ? "" : ", and no plugin of that name"
        throw StrategyError(.unknownStrategy, "there is no strategy '\(name)'; there are \(known)\(places)")
    }
}

extension PluginSandbox.Policy: @retroactive ExpressibleByArgument {}
