import Foundation
import PackagePlugin

/// `swift package rehearse-upgrades`: builds the tool and runs the scenarios of a package with it.
///
/// The plugin builds the tool like a product of the package: a tool that is a dependency of a plugin would be built a
/// second time, in every build. `$STORE_MIGRATE_TOOL` names a tool that is already built.
///
/// Without paths it runs the folders named `Scenarios` in the root of the package and in its targets. It passes all
/// arguments to `store-migrate rehearse`.
@main
struct RehearseUpgrades: CommandPlugin {
    /// The reason why no scenario ran, or the status of a failed rehearsal.
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
                description: "the package has no folder named Scenarios; name the scenarios, or write one with --new"
            )
        }
        return folders
    }
}
