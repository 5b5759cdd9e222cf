import FoundationEssentials
import TestSupport

@testable import StrategyProcess

/// The example plugins, copied into a folder as a user would.
enum ExamplePlugin {
    static let shellSource = Checkout.path + "/Plugins/ExcludedFromBackup"

    /// Copies one of them from its source folder.
    static func copy(_ name: String, from source: String, to folder: PluginFolder) throws {
        let path = folder.path + "/" + PluginFile.prefix + name
        try ExecutableFile.copy(source + "/" + PluginFile.prefix + name, to: path)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }
}
