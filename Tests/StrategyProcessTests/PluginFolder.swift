import FoundationEssentials
import SafeFiles
import StoreStrategies

@testable import StrategyProcess

/// A folder of a test's own with plugins in shell; it goes away with the test.
struct PluginFolder {
    private let temporary: TemporaryDirectory
    var path: String { temporary.directory.path }

    init() throws {
        temporary = try TemporaryDirectory(prefix: "store-migrate-plugins")
        // A plugin of root's runs as nobody, who has to get here.
        try temporary.directory.setMode(0o755)
    }

    /// Writes a plugin whose lines follow a first one that names the shell.
    @discardableResult
    func plugin(_ name: String, _ script: String, shell: String = "/bin/sh", mode: UInt32 = 0o755) throws -> String {
        let path = path + "/" + PluginFile.prefix + name
        let source = self.path + "/" + name + ".source"
        try Data(("#!" + shell + "\n" + script + "\n").utf8).write(to: URL(filePath: source))
        try ExecutableFile.copy(source, to: path)
        try FileManager.default.removeItem(atPath: source)
        let file = try temporary.directory.openFile(PluginFile.prefix + name, for: .reading)
        try file.setMode(mode)
        try file.close()
        return path
    }

    /// Writes a plugin that says who it is and answers everything as told.
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
                '{"getCapability":'*) echo '\(capability ?? Self.capability(name))' ;;
                '{"evaluate":'*) echo '\(evaluate)' ;;
                '{"describe":'*) echo '\(describe)' ;;
                esac
            done
            """
        )
    }

    static func capability(
        _ name: String,
        version: Int = 1,
        summary: String = "Is made up for a test.",
        sets: String = "timeout"
    ) -> String {
        #"{"capability":{"protocolVersion":\#(version),"name":"\#(name)","documentation":{"summary":"\#(summary)","#
            + #""sets":["\#(sets)"],"example":"\#(name)","notApplicable":"It applies to every store."}}}"#
    }

    func locate(_ name: String) throws(StrategyError) -> PluginFile? {
        try PluginLocator(folders: [path]).plugin(named: name)
    }

    /// The strategy of a plugin; a hostile one has `seconds` to answer.
    func strategy(_ name: String, within seconds: Int = 60, _ change: (inout PluginSandbox) -> Void = { _ in })
        throws -> ProcessStrategy
    {
        var sandbox = PluginSandbox()
        sandbox.limits.deadline = .seconds(seconds)
        change(&sandbox)
        guard let plugin = try locate(name) else { throw StrategyError(.unknownStrategy, "no plugin \(name)") }
        return try ProcessStrategy(plugin, sandbox: sandbox)
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
