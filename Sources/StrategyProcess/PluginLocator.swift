internal import FoundationEssentials
public import StoreStrategies

/// Finds plugins by name, in the folders that the caller names and nowhere else.
public struct PluginLocator: Sendable {
    private let folders: [String]

    /// Creates a locator that searches `folders` in their order.
    public init(folders: [String]) { self.folders = folders }

    /// The names of the plugins in the folders, sorted; a plugin that is not safe to run is among them.
    public var names: [String] {
        let files = folders.flatMap { (try? FileManager.default.contentsOfDirectory(atPath: $0)) ?? [] }
        let names = files.filter { $0.hasPrefix(PluginFile.prefix) }
            .map { String($0.dropFirst(PluginFile.prefix.count)) }
        return Set(names.filter(StrategyName.isValid)).sorted()
    }

    /// The program `store-migrate-strategy-<name>` in the first folder that has one; nil when none has.
    ///
    /// Throws `StrategyError` for a program that is not safe to run.
    public func plugin(named name: String) throws(StrategyError) -> PluginFile? {
        // A name with a slash would refer to another folder.
        guard StrategyName.isValid(name) else { return nil }
        for folder in folders {
            if let plugin = try PluginFile(name: name, in: folder) { return plugin }
        }
        return nil
    }
}
