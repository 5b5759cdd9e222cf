import FoundationEssentials
import SafeFiles
import StoreStrategies
import TestSupport

@testable import StrategyProcess

/// A temporary folder with plugins in shell.
struct PluginFolder {
    private let temporary: TemporaryDirectory
    var path: String { temporary.directory.path }

    init() throws {
        temporary = try TemporaryDirectory(prefix: "store-migrate-plugins")
        // A plugin of root's runs as the user nobody, who needs access to this folder.
        try temporary.directory.setMode(0o755)
    }

    /// Writes a plugin whose lines follow a first one that names the shell.
    @discardableResult
    func plugin(_ name: String, _ script: String, shell: String = "/bin/sh", mode: UInt32 = 0o755) throws -> String {
        try write(PluginFile.prefix + name, "#!" + shell + "\n" + script + "\n", mode: mode)
    }

    /// Writes the text of a plugin, or of a file beside one.
    @discardableResult
    func write(_ file: String, _ text: String, mode: UInt32 = 0o755) throws -> String {
        let path = path + "/" + file
        let source = path + ".source"
        try Data(text.utf8).write(to: URL(filePath: source))
        try ExecutableFile.copy(source, to: path)
        try FileManager.default.removeItem(atPath: source)
        try FileManager.default.setAttributes([.posixPermissions: Int(mode)], ofItemAtPath: path)
        return path
    }

    /// Makes a folder, whose mode does not depend on the umask.
    @discardableResult
    func makeFolder(_ name: String, mode: UInt32) throws -> String {
        try FileManager.default.createDirectory(atPath: path + "/" + name, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: Int(mode)], ofItemAtPath: path + "/" + name)
        return path + "/" + name
    }

    /// Writes a plugin that answers with the given lines.
    func plugin(
        _ name: String,
        capability: String? = nil,
        evaluate: String = #"{"applicability":{"result":{"applicable":{}}}}"#,
        describe: String = #"{"changes":{"changes":{"timeout":9}}}"#,
        before: String = ""
    ) throws {
        try plugin(
            name,
            """
            \(before)
            while read -r question; do
                case $question in
                '{"getCapability":'*) echo '\(capability ?? HostilePlugin.capability(name))' ;;
                '{"evaluate":'*) printf '%s\\n' '\(evaluate)' ;;
                '{"describe":'*) printf '%s\\n' '\(describe)' ;;
                esac
            done
            """
        )
    }

    func locate(_ name: String) throws(StrategyError) -> PluginFile? {
        try PluginLocator(folders: [path]).plugin(named: name)
    }

    /// The strategy of a plugin, which has `seconds` to answer.
    func strategy(
        _ name: String,
        within seconds: Int = 60,
        _ change: (inout PluginSandbox) -> Void = { _ in },
        isCancelled: (@Sendable () -> Bool)? = nil
    ) throws -> ProcessStrategy {
        var sandbox = PluginSandbox()
        sandbox.limits.deadline = .seconds(seconds)
        change(&sandbox)
        guard let plugin = try locate(name) else { throw StrategyError(.unknownStrategy, "no plugin \(name)") }
        return try ProcessStrategy(plugin, sandbox: sandbox, isCancelled: isCancelled)
    }
}

extension StrategyRequest {
    static var sample: StrategyRequest {
        StrategyRequest(
            facts: StoreFacts(),
            role: .app,
            description: PersistentStoreDescription(url: URL(filePath: "/group/Habits.sqlite"))
        )
    }
}
