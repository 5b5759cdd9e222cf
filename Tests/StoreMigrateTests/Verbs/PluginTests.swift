import FoundationEssentials
import StrategyProcess
import TestSupport
import Testing

@Suite("Plugins in verbs", .verify, .enabled(if: PluginSandbox.isKernelAble, "needs Landlock"))
struct PluginTests {
    private let scratch: Scratch
    private let old: String
    private let new: String

    init() async throws {
        scratch = try Scratch()
        old = try await scratch.store("Habits.sqlite")
        new = try scratch.folder("new")
        // A plugin that root starts runs as the user nobody, who needs access to it.
        for folder in [scratch.path, try scratch.folder("plugins")] {
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder)
        }
    }

    /// A child process writes the file: a descriptor of this process could be inherited, and exec would fail with ETXTBSY.
    private func plugin(_ name: String, _ bytes: [UInt8]) async throws {
        let source = try scratch.file(name + ".source", bytes)
        let path = scratch.path("plugins/store-migrate-strategy-" + name)
        #expect(try await Tool.run(command: ["cp", source, path], folder: scratch.path).status == 0)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }

    /// A file with the request printed in Plugins/README.md.
    private func printedRequest() throws -> String {
        let request = try ReferencePage.plugins.block("json request").joined(separator: "\n")
        return try scratch.file("request.json", Array(request.utf8))
    }

    @Test("Recorded messages follow the wire grammar in Plugins/README.md")
    func wire() throws {
        let grammar = try Grammar(try ReferencePage.plugins.block("wire"), lastLine: "version")
        let recorded = URL(filePath: Tool.package + "/Fixtures/Messages/conversation.txt")
        let lines =
            try String(contentsOf: recorded, encoding: .utf8).split(separator: "\n").map(String.init)
            + ReferencePage.plugins.block("text transcript")
        #expect(lines.count >= 14)
        for line in lines {
            let message = try JSONTree(String(line.dropFirst(2)))
            guard case .object(let members) = message else {
                Issue.record("\(line)")
                continue
            }
            #expect(members.count == 1)
            try grammar.check(message, as: line.hasPrefix(">") ? "question" : "answer")
        }
    }

    @Test("The shell example plugin is found with --plugin-path, and its answer is applied")
    func example() async throws {
        let source = Tool.package + "/Plugins/ExcludedFromBackup/store-migrate-strategy-ExcludedFromBackup"
        try await plugin("ExcludedFromBackup", Array(try Data(contentsOf: URL(filePath: source))))
        let path = ["--plugin-path", scratch.path("plugins")]
        let show = try await Tool.runProcess(["strategies", "show", "ExcludedFromBackup"] + path)
        #expect(show.output.contains("Keeps the store out of backups of the device."), "\(show.errors)")
        try scratch.file("plugins/store-migrate-strategy-NotExecutable", Array("#!/bin/sh\n".utf8))
        let list = try await Tool.runProcess(["strategies", "list"] + path)
        #expect(list.lines.last?.hasPrefix("  ExcludedFromBackup ") == true, "\(list.errors)")
        #expect(list.errors.contains("NotExecutable") && list.errors.contains("[pluginNotListed]"))
        let asked = try await Tool.runProcess(
            ["strategies", "run", "ExcludedFromBackup", "--request", try printedRequest()] + path
        )
        #expect(asked.output == "isExcludedFromBackup = true\n", "\(asked.errors)")
        let file = scratch.path("descriptions.json")
        let call = ["share", old, new, "--strategy", "ExcludedFromBackup", "--descriptions", file]
        let unfound = try await Tool.runProcess(call)
        #expect(unfound.status == 2 && unfound.errors.contains("there is no strategy 'ExcludedFromBackup'"))
        let run = try await Tool.runProcess(call + path)
        #expect(run.status == 0, "\(run.errors)")
        let written = try JSONTree(String(contentsOf: URL(filePath: file), encoding: .utf8))
        #expect(written["app"]?["isExcludedFromBackup"] == .bool(true))
    }

    @Test(
        "A hostile plugin ends the share with one line before publication, and leaves no process or file",
        arguments: HostilePlugin.all
    )
    func hostile(_ plugin: HostilePlugin) async throws {
        let nap = "\(UInt32.random(in: 100_000_000...999_999_999))"
        let drop = try scratch.folder("open")
        try FileManager.default.setAttributes([.posixPermissions: 0o1777], ofItemAtPath: drop)
        // The plugin tries to read the store, which every user can read.
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: old)
        try await self.plugin(HostilePlugin.name, Array(plugin.text(secret: old, open: drop, nap: nap).utf8))
        let before = try scratch.fingerprint()
        func share(_ seconds: Int) async throws -> Tool.Run {
            // The tool accepts at most 30 seconds.
            try await Tool.run(
                command: [
                    "timeout", "-k", "5", "120", try Tool.path, "share", old, new, "--strategy", HostilePlugin.name,
                    "--plugin-path", scratch.path("plugins"), "--plugin-timeout", "\(min(seconds, 30))s",
                    "--json",
                ]
            )
        }
        var (run, seconds) = (try await share(plugin.seconds[0]), plugin.seconds[0])
        for more in plugin.seconds.dropFirst() where plugin.isLate(run.errors, within: seconds) {
            (run, seconds) = (try await share(more), more)
        }
        let records = try Grammar().check(run)
        #expect(run.status == 1, "\(run.errors)")
        #expect(run.errorLines.count == 1 && run.errors.contains(plugin.refusal(within: seconds)), "\(run.errors)")
        #expect(run.errors.unicodeScalars.allSatisfy { $0.value >= 0x20 || $0 == "\n" }, "\(run.errors)")
        #expect(records.filter { $0["type"]?.string == "error" }.count == 1)
        #expect(try scratch.fingerprint() == before)
        #expect(try RunningProcesses.mentioning([scratch.path, nap]).isEmpty)
    }

    @Test(
        "A signal during a plugin's answer ends the share with status 130 and kills the plugin",
        arguments: ["INT", "TERM", "HUP"]
    )
    func interrupted(_ signal: String) async throws {
        let nap = "\(UInt32.random(in: 100_000_000...999_999_999))"
        // The plugin opens the FIFO when it starts; the script that sends the signal waits at the other end.
        let data = try scratch.folder("plugins/store-migrate-strategy-Hostile.d")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: data)
        #expect(try await Tool.run(command: ["mkfifo", "-m", "644", data + "/gate"]).status == 0)
        try await plugin("Hostile", Array("#!/bin/sh\nread -r line <\"$0.d/gate\"\nsleep \(nap) & sleep \(nap)\n".utf8))
        let before = try scratch.fingerprint()
        let script = """
            set -m
            exec 3>&2 2>/dev/null
            '\(try Tool.path)' share '\(old)' '\(new)' --strategy Hostile --plugin-path plugins --json 2>&3 &
            tool=$!
            timeout 60 sh -c ': >'\''\(data)/gate'\'
            kill -\(signal) $tool
            wait $tool
            """
        let run = try await Tool.run(
            command: ["timeout", "-k", "5", "120", "bash", "-c", script],
            folder: scratch.path
        )
        #expect(run.status == 130, "\(run.output)\(run.errors)")
        #expect(try Grammar().check(run).last?["outcome"]?.string == "cancelled")
        #expect(run.errorLines.count == 1 && run.errors.contains("stopped on request"), "\(run.errors)")
        #expect(try scratch.fingerprint() == before)
        #expect(try RunningProcesses.mentioning([nap]).isEmpty)
    }

    @Test("A plugin inherits a lower descriptor limit of the caller")
    func limits() async throws {
        try await plugin(
            "Modest",
            Array(
                "#!/bin/sh\necho '\(HostilePlugin.capability("Modest", summary: "'$(ulimit -n)' descriptors."))'\n".utf8
            )
        )
        let command = """
            ulimit -n 40; '\(try Tool.path)' strategies show Modest --plugin-path plugins
            """
        let run = try await Tool.run(command: ["sh", "-c", command], folder: scratch.path)
        #expect(run.output.contains("  40 descriptors.\n"), "\(run.output)\(run.errors)")
    }

    @Test("A --plugin-timeout that is over 30 seconds, zero or invalid is refused", arguments: ["31s", "0s", "soon"])
    func timeouts(_ time: String) async throws {
        let run = try await Tool.runProcess(["plan", old, new, "--plugin-timeout", time])
        #expect(run.status == 2 && run.errorLines.count == 1, "\(run.errors)")
    }

    @Test(
        "With few descriptors left, a plugin runs confined or not at all",
        arguments: [10, 11, 12, 13, 14, 15, 16, 17, 18, 20]
    )
    func scarceDescriptors(_ limit: Int) async throws {
        let secret = try scratch.file("secret", Array("line\n".utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: secret)
        try await plugin("Curious", Array("#!/bin/sh\nread -r line <'\(secret)' && echo leaked >&2\nexit 1\n".utf8))
        let command = """
            ulimit -Sn \(limit); '\(try Tool.path)' strategies show Curious --plugin-path plugins
            """
        let run = try await Tool.run(command: ["sh", "-c", command], folder: scratch.path)
        #expect(run.status != 0)
        #expect(!run.errors.contains("leaked"), "\(run.errors)")
    }
}
