import FoundationEssentials
import StrategyProcess
import Testing

@Suite("Plugins in a share", .enabled(if: PluginSandbox.isKernelAble, "needs Landlock"))
struct PluginTests {
    private let scratch: Scratch
    private let old: String
    private let new: String

    init() async throws {
        scratch = try Scratch()
        old = try await scratch.store("Habits.sqlite")
        new = try scratch.folder("new")
        // A plugin of root's runs as nobody, who has to get to it.
        for folder in [scratch.path, try scratch.folder("plugins")] {
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder)
        }
    }

    /// Another process writes the file: in this one it would stay open in children that are started meanwhile.
    private func plugin(_ name: String, _ bytes: [UInt8]) async throws {
        let source = try scratch.file(name + ".source", bytes)
        let path = scratch.path("plugins/store-migrate-strategy-" + name)
        #expect(try await Tool.run(command: ["cp", source, path], folder: scratch.path).status == 0)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }

    @Test("The example in shell is found, asked, and its answer handed on")
    func example() async throws {
        let source = Tool.package + "/Plugins/ExcludedFromBackup/store-migrate-strategy-ExcludedFromBackup"
        try await plugin("ExcludedFromBackup", Array(try Data(contentsOf: URL(filePath: source))))
        let path = ["--plugin-path", scratch.path("plugins")]
        let show = try await Tool.run(["strategies", "show", "ExcludedFromBackup"] + path)
        #expect(show.output.contains("Keeps the store out of backups of the device."), "\(show.errors)")
        let file = scratch.path("descriptions.json")
        let call = ["share", old, new, "--strategy", "ExcludedFromBackup", "--descriptions", file]
        let unfound = try await Tool.run(call)
        #expect(unfound.status == 2 && unfound.errors.contains("there is no strategy 'ExcludedFromBackup'"))
        let run = try await Tool.run(call + path)
        #expect(run.status == 0, "\(run.errors)")
        let written = try JSONTree(String(contentsOf: URL(filePath: file), encoding: .utf8))
        #expect(written["app"]?["isExcludedFromBackup"] == .bool(true))
    }

    @Test(
        "One that fails stops the share before anything is published, in one line",
        arguments: [
            ("echo hello", "its answer cannot be read"), ("exit 1", "it ended with 0 of 1 answers"),
            ("printf '\\033[31m' >&2", "it ended with 0 of 1 answers"),
        ]
    )
    func hostile(_ script: String, _ message: String) async throws {
        try await plugin("Hostile", Array("#!/bin/sh\n\(script)\n".utf8))
        let before = try scratch.fingerprint()
        let run = try await Tool.run([
            "share", old, new, "--strategy", "Hostile", "--plugin-path", scratch.path("plugins"), "--json",
        ])
        #expect(run.status == 1)
        #expect(run.errorLines.count == 1 && run.errors.contains(message), "\(run.errors)")
        #expect(!run.errors.contains("\u{1B}"))
        try Grammar().check(run)
        #expect(try scratch.fingerprint() == before)
    }

    @Test(
        "With no descriptor left over it is confined, or not run at all",
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
