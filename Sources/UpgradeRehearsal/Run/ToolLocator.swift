import FoundationEssentials

/// Finds the tool, of which a rehearsal runs the real program.
enum ToolLocator {
    private static let name = "store-migrate"
    static let variable = "STORE_MIGRATE_TOOL"

    /// Its path: `$STORE_MIGRATE_TOOL`, the program beside this one or this one itself, or the program on the `PATH`.
    static func path() throws -> String {
        let environment = ProcessInfo.processInfo.environment
        if let chosen = environment[variable], !chosen.isEmpty {
            guard isProgram(chosen) else { throw RehearsalFailure("$\(variable) names no program: \(chosen)") }
            return chosen
        }
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let beside = [own, CommandLine.arguments.first ?? ""].map { folder(of: $0) + "/" + name }
        let onPath = (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
        for candidate in beside + onPath where isProgram(candidate) { return candidate }
        throw RehearsalFailure(
            "the program store-migrate is not built beside the tests, nor on the PATH; build the product store-migrate "
                + "of the package store-migrate, or set \(variable) to its path"
        )
    }

    /// The path of another program on the `PATH`.
    static func program(_ name: String) -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        return folders.map { "\($0)/\(name)" }.first(where: isProgram)
    }

    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    private static func isProgram(_ path: String) -> Bool {
        var isFolder = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder
            && FileManager.default.isExecutableFile(atPath: path)
    }
}
