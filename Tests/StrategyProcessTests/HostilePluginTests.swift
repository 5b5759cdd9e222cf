import FoundationEssentials
import Glibc
import StoreStrategies
import Testing

@testable import StrategyProcess

/// One after the other: what one of them uses up, another may need.
@Suite("Plugins that mean no good", .serialized, .enabled(if: PluginSandbox().landlockVersion > 0, "needs Landlock"))
struct HostilePluginTests {
    private let folder: PluginFolder
    /// A number of seconds that nobody else on this machine sleeps.
    private let nap = "\(UInt32.random(in: 100_000_000...999_999_999))"

    init() throws { folder = try PluginFolder() }

    private func refusal(
        _ name: String,
        within seconds: Int = 60,
        _ change: (inout PluginSandbox) -> Void = { _ in }
    ) -> String {
        do {
            let strategy = try folder.strategy(name, within: seconds, change)
            let pipeline = StrategyPipeline([StrategyPipeline.Step(strategy)])
            _ = try pipeline.describe(StoreFacts(), from: StrategyRequest.sample.description)
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test("One that behaves is asked and answers")
    func good() throws {
        try folder.plugin("Good")
        let strategy = try folder.strategy("Good")
        #expect(try strategy.evaluate(.sample) == .applicable)
        #expect(try strategy.describe(.sample).timeout == 9)
        #expect(refusal("Good") == "")
    }

    struct Plugin: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let script: String
        let refusal: String
        var seconds = 60
    }

    @Test(
        "It is refused, for a reason that is told, and nothing of it is left",
        arguments: [
            Plugin(
                testDescription: "allocates without end",
                script: "text=aaaaaaaaaaaaaaaa; while :; do text=$text$text$text$text; done",
                refusal: "it ended with 0 of 1 answers"
            ),
            Plugin(
                testDescription: "forks without end",
                script: "fork() { fork & fork & }; while :; do sleep 7777 & fork; done",
                refusal: "",
                seconds: 3
            ),
            Plugin(
                testDescription: "writes without end",
                script:
                    "while :; do printf aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done",
                refusal: "it says more than 1048576 bytes"
            ),
            Plugin(
                testDescription: "complains without end",
                script:
                    "while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa >&2; done",
                refusal: "it says more than 1048576 bytes"
            ),
            Plugin(
                testDescription: "writes half a message",
                script: #"printf '{"capability":{"protocol'"#,
                refusal: "in the middle of a message"
            ),
            Plugin(testDescription: "talks garbage", script: "echo hello", refusal: "its answer cannot be read"),
            Plugin(
                testDescription: "keeps silent",
                script: "sleep 7777",
                refusal: "it did not answer within 1.0 seconds",
                seconds: 1
            ),
            Plugin(
                testDescription: "exits",
                script: "echo nothing for me >&2; exit 3",
                refusal: "it ended with 0 of 1 answers, and said: nothing for me"
            ),
            Plugin(
                testDescription: "ignores being asked to stop",
                script: "trap '' TERM INT HUP; while :; do sleep 7777; done",
                refusal: "it did not answer within 1.0 seconds",
                seconds: 1
            ),
            Plugin(
                testDescription: "speaks another version",
                script: "echo '\(PluginFolder.capability("Hostile", version: 7))'",
                refusal: "speaks version 7 of the wire"
            ),
            Plugin(
                testDescription: "bears another name",
                script: "echo '\(PluginFolder.capability("WriteAheadLog"))'",
                refusal: "calls itself 'WriteAheadLog'"
            ),
            Plugin(
                testDescription: "wants to set what nobody may",
                script: "echo '\(PluginFolder.capability("Hostile", sets: "url"))'",
                refusal: "wants to set url, which no strategy may set"
            ),
        ]
    )
    func refused(_ plugin: Plugin) throws {
        try folder.plugin("Hostile", plugin.script.replacing("7777", with: nap))
        let text = refusal("Hostile", within: plugin.seconds)
        #expect(!text.isEmpty)
        #expect(text.contains(plugin.refusal), "\(text)")
        #expect(!text.contains("\n"))
        #expect(try leftovers().isEmpty)
    }

    @Test(
        "Answers that were never offered are refused",
        arguments: [
            (#"{"changes":{"changes":{"isReadOnly":true}}}"#, "sets isReadOnly, which it does not document"),
            (#"{"changes":{"changes":{"url":"file:///etc/passwd"}}}"#, "'url' is nothing that a strategy may set"),
            (#"{"changes":{"changes":{"timeout":"long"}}}"#, "its answer cannot be read"),
            (#"{"applicability":{"result":{"applicable":{}}}}"#, "answers another question"),
            (#"{"failure":{"message":"not today","recoverySuggestion":"Come tomorrow."}}"#, "says: not today"),
        ]
    )
    func neverOffered(_ answer: String, _ expected: String) throws {
        try folder.plugin("Hostile", describe: answer)
        let text = refusal("Hostile")
        #expect(text.contains(expected), "\(text)")
    }

    @Test("One that changes its mind about itself is refused")
    func changing() throws {
        try folder.plugin(
            "Hostile",
            """
            read -r first
            if read -r second; then summary=Later.; else summary=Before.; fi
            echo '\(PluginFolder.capability("Hostile", summary: "'$summary'"))'
            echo '{"applicability":{"result":{"applicable":{}}}}'
            """
        )
        #expect(refusal("Hostile").contains("says something else of itself than before"))
    }

    @Test("It reads no file outside its folder and the system's, and only the kernel keeps it from that")
    func readsNothing() throws {
        let other = try PluginFolder()
        let secret = try other.plugin("secret", "", mode: 0o644)
        let own = try folder.plugin("Own", "", mode: 0o644)
        for (path, isReadable) in [(secret, false), (own, true), ("/etc/passwd", false)] {
            try folder.plugin(
                "Hostile",
                """
                summary=denied.........; { read -r line <'\(path)'; } && summary=leaked.........
                echo '\(PluginFolder.capability("Hostile", summary: "'$summary'"))'
                """
            )
            let summary = try folder.strategy("Hostile").documentation.summary
            #expect(summary == (isReadable ? "leaked........." : "denied........."), "\(path)")
            let open = try folder.strategy("Hostile") {
                $0.landlockVersion = 0
                $0.policy = .bestEffort
            }
            #expect(open.documentation.summary == "leaked.........", "\(path)")
        }
    }

    @Test("It writes no file, not even beside itself")
    func writesNothing() throws {
        for path in [folder.path + "/written", "/tmp/store-migrate-hostile-\(UUID().uuidString)"] {
            try folder.plugin(
                "Hostile",
                """
                summary=denied.........; { echo x >'\(path)'; } && summary=written........
                echo '\(PluginFolder.capability("Hostile", summary: "'$summary'"))'
                """
            )
            #expect(try folder.strategy("Hostile").documentation.summary == "denied.........")
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test(
        "It changes nothing that is said of a file, and reaches no process, not even itself from outside",
        arguments: ["chmod 606", "touch -d @1", "kill -0 $$ #", "prlimit --pid $$ --nofile #", "unshare -U true #"]
    )
    func changesNothing(_ command: String) throws {
        let victim = try folder.plugin("victim", "", mode: 0o600)
        // Root's plugin runs as nobody, whose file this has to be.
        if geteuid() == 0 { #expect(chown(victim, 65_534, 65_534) == 0) }
        let before = try status(of: victim)
        try folder.plugin(
            "Hostile",
            """
            summary=denied.........; \(command) '\(victim)' && summary=done...........
            echo '\(PluginFolder.capability("Hostile", summary: "'$summary'"))'
            """
        )
        for landlock in [PluginSandbox().landlockVersion, 0] {
            let strategy = try folder.strategy("Hostile") {
                $0.landlockVersion = landlock
                $0.policy = .bestEffort
            }
            #expect(strategy.documentation.summary == "denied.........")
        }
        #expect(try status(of: victim) == before)
    }

    private func status(of path: String) throws -> [Int64] {
        var status = stat()
        try #require(lstat(path, &status) == 0)
        return [Int64(status.st_mode), Int64(status.st_mtim.tv_sec), Int64(status.st_uid)]
    }

    @Test("It reaches no network, and has no descriptor and no environment of ours")
    func isAlone() throws {
        try folder.plugin(
            "Hostile",
            """
            summary=; { exec 5<>/dev/tcp/127.0.0.1/1; } 2>&1 | { read -r said; case $said in *'not permitted'*) exit 0;; esac; exit 1; } && summary=noNetwork
            for number in 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
                { true <&$number; } 2>&1 | { read -r said; case $said in *'Bad file'*) exit 0;; esac; exit 1; } || summary=$summary-$number
            done
            echo '\(PluginFolder.capability("Hostile", summary: "'$summary:$HOME:$USER'"))'
            """,
            shell: "/bin/bash"
        )
        #expect(try folder.strategy("Hostile").documentation.summary == "noNetwork::")
    }

    @Test("Without Landlock it is not run, unless the caller says so")
    func withoutLandlock() throws {
        try folder.plugin("Good")
        let text = refusal("Good") { $0.landlockVersion = 0 }
        #expect(text.contains("this kernel cannot keep it from files"), "\(text)")
        let strategy = try folder.strategy("Good") {
            $0.landlockVersion = 0
            $0.policy = .bestEffort
        }
        #expect(try strategy.describe(.sample).timeout == 9)
    }

    @Test("Its folder, which it may read, holds no store")
    func storeInFolder() throws {
        try folder.plugin("Good")
        let strategy = try folder.strategy("Good")
        var request = StrategyRequest.sample
        request.description.url = URL(filePath: folder.path + "/deeper/Habits.sqlite")
        let error = #expect(throws: StrategyError.self) { try strategy.evaluate(request) }
        #expect(error?.message.contains("holds the store") == true)
    }

    /// Processes that were started by a plugin of this test.
    private func leftovers() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc")
            .filter { $0.first?.isNumber == true }
            .compactMap { number in
                guard let data = FileManager.default.contents(atPath: "/proc/\(number)/cmdline") else { return nil }
                let words = String(decoding: data, as: UTF8.self)
                return words.contains(folder.path) || words.contains(nap) ? words : nil
            }
    }
}
