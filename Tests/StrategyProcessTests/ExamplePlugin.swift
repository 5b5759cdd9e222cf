import FoundationEssentials

@testable import StrategyProcess

/// The example plugins, copied into a folder as a user would.
enum ExamplePlugin {
    static let package = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    static let shellSource = package + "/Plugins/ExcludedFromBackup"

    /// The folder of the test bundle, in which programs of the package lie, too.
    static var products: String {
        get throws {
            let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            return String(program[..<(program.lastIndex(of: "/") ?? program.startIndex)])
        }
    }

    /// Copies one of them from its source folder.
    static func copy(_ name: String, from source: String, to folder: PluginFolder) throws {
        let path = folder.path + "/" + PluginFile.prefix + name
        try ExecutableFile.copy(source + "/" + PluginFile.prefix + name, to: path)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }
}
