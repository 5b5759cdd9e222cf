import Foundation
import PackagePlugin

/// `swift package rehearse-upgrades`: carries out the scenarios of a package with the tool, which it builds first.
///
/// The tool is built as the package's own products are; a dependency of this plugin would be built once more, for plugins
/// alone, whenever anything is. `$STORE_MIGRATE_TOOL` names one that is there.
///
/// Without paths it takes the folders named `Scenarios` at the top of the package and in its targets. Everything else is
/// handed to `store-migrate rehearse`.
@main
struct RehearseUpgrades: CommandPlugin {
    /// Why nothing was rehearsed, or that something did not hold.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    func performCommand(context: PluginContext, arguments: [String]) async throws {
        let process = Process()
        process.executableURL = try tool()
        process.arguments = ["rehearse"] + arguments + (try Self.folders(of: context.package, unless: arguments))
        process.currentDirectoryURL = context.package.directoryURL
        try process.run()
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw Failure(description: "the rehearsal ended with status \(process.terminationStatus)")
        }
    }

    private func tool() throws -> URL {
        if let chosen = ProcessInfo.processInfo.environment["STORE_MIGRATE_TOOL"], !chosen.isEmpty {
            return URL(fileURLWithPath: chosen)
        }
        let result = try packageManager.build(.product("store-migrate"), parameters: .init())
        guard result.succeeded, let tool = result.builtArtifacts.first(where: { $0.kind == .executable }) else {
            throw Failure(description: "store-migrate cannot be built\n\(result.logText)")
        }
        return tool.url
    }

    private static func folders(of package: Package, unless arguments: [String]) throws -> [String] {
        let valued = ["--junit", "--jobs", "--name", "--progress"]
        let hasPath = arguments.enumerated()
            .contains { index, word in
                !word.hasPrefix("-") && (index == 0 || !valued.contains(arguments[index - 1]))
            }
        guard !hasPath, !arguments.contains("--new"), !arguments.contains("--help") else { return [] }
        let places = [package.directoryURL] + package.targets.map(\.directoryURL)
        var folders: [String] = []
        for place in places {
            let folder = place.appendingPathComponent("Scenarios").path
            var isFolder: ObjCBool = false
            if FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue,
                !folders.contains(folder)
            {
                folders.append(folder)
            }
        }
        guard !folders.isEmpty else {
            throw Failure(
                description: "the package has no folder named Scenarios; name the scenarios, or begin one with --new"
            )
        }
        return folders
    }
}
