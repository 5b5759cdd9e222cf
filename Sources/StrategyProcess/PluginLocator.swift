public import StoreStrategies

/// Finds plugins by name, in the folders that the caller names and nowhere else.
public struct PluginLocator: Sendable {
    private let folders: [String]

    /// `folders` are looked at in their order.
    public init(folders: [String]) { self.folders = folders }

    /// The program `store-migrate-strategy-<name>` in the first folder that has one; nil when none has.
    ///
    /// Throws ``StrategyError`` for a program that nobody should run.
    public func plugin(named name: String) throws(StrategyError) -> PluginFile? {
        // A name with a slash in it would lead elsewhere.
        guard Self.isName(name) else { return nil }
        for folder in folders {
            if let plugin = try PluginFile(name: name, at: folder + "/" + PluginFile.prefix + name) { return plugin }
        }
        return nil
    }

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                $0 == 0x2D || (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20)
            }
    }
}
