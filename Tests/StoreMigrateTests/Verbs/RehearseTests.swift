import FoundationEssentials
import TestSupport
import Testing
import UpgradeRehearsal

@testable import store_migrate

@Suite("Verb rehearse")
struct RehearseTests {
    private static let good = """
        about: It holds.
        stores: {old: {at: old.sqlite}}
        steps: [{inspect: [old], ends: {status: 10}}]
        holds: [{absent: old.sqlite}]

        """

    /// A scratch folder with `good.yaml` and other files.
    private static func scratch(_ others: [String: String] = [:]) throws -> Scratch {
        let scratch = try Scratch()
        try scratch.file("good.yaml", Array(good.utf8))
        for (name, text) in others { try scratch.file(name, Array(text.utf8)) }
        return scratch
    }

    @Test("rehearse ends with 0 when every scenario holds")
    func held() async throws {
        let scratch = try Self.scratch()
        let run = try await Tool.runProcess(["rehearse", "good.yaml", "."], folder: scratch.path)
        #expect(run.status == 0, "\(run.errors)")
        #expect(
            run.lines.count == 3 && run.lines.allSatisfy { $0.hasPrefix("held  good  (") || $0.hasPrefix("2 scen") }
        )
        let json = try await Tool.runProcess(["rehearse", "good.yaml", "--json", "--jobs", "1"], folder: scratch.path)
        let lines = try Grammar().check(json)
        #expect(lines.map { $0["type"]?.string } == ["scenario", "summary"])
        #expect(lines.first?["result"]?.string == "held")
        #expect(lines.last?["held"]?.integer == 1 && lines.last?["scenarios"]?.integer == 1)
    }

    @Test("A failed scenario ends with 3 and names file, line and column in text, JSON and JUnit XML")
    func failed() async throws {
        let bad = Self.good.replacing("status: 10", with: "status: 4")
        let scratch = try Self.scratch(["bad.yaml": bad])
        let run = try await Tool.runProcess(
            ["rehearse", "bad.yaml", "good.yaml", "--junit", "r.xml"],
            folder: scratch.path
        )
        #expect(run.status == 3)
        #expect(run.output.hasPrefix("FAILED  bad  ("))
        #expect(run.output.contains("\n  bad.yaml:3:32: inspect old\n    expected  status 4\n"))
        #expect(run.output.contains("    found     outcome nothingFound, status 10\n    it said   store-migrate: "))
        #expect(run.output.contains("to keep its files: store-migrate rehearse --keep bad.yaml\n"))
        let xml = try String(contentsOf: URL(filePath: scratch.path("r.xml")), encoding: .utf8)
        #expect(xml.contains("<testsuites tests=\"2\" failures=\"1\" errors=\"0\""))
        let json = try await Tool.runProcess(["rehearse", "bad.yaml", "--json"], folder: scratch.path)
        let lines = try Grammar().check(json)
        #expect(lines.first?["failures"]?.array?.first?["line"]?.integer == 3)
        #expect(lines.last?["outcome"]?.string == "findings")
    }

    @Test("Without strace, a scenario with failing system calls is reported as not run")
    func withoutTracer() async throws {
        let faulty = Self.good.replacing("ends: {status: 10}", with: "fails: {call: openat, nth: all, with: EIO}")
        let scratch = try Self.scratch(["faulty.yaml": faulty])
        let words = ["rehearse", "faulty.yaml", "good.yaml", "--junit", "r.xml"]
        let run = try await Tool.run(command: ["env", "PATH=/none", try Tool.path] + words, folder: scratch.path)
        #expect(run.status == 3)
        #expect(run.output.contains("strace; install it"), "\(run.output)")
        #expect(run.output.hasSuffix("2 scenarios, of which 1 held\n"))
        let xml = try String(contentsOf: URL(filePath: scratch.path("r.xml")), encoding: .utf8)
        #expect(xml.contains("<testsuites tests=\"2\" failures=\"0\" errors=\"1\""))
    }

    @Test("rehearse runs its own executable under any file name")
    func ownProgram() async throws {
        let scratch = try Self.scratch()
        let run = try await Tool.run(
            command: [
                "sh", "-c", "cp \"$TOOL\" renamed; ln -s /bin/false store-migrate; exec ./renamed rehearse good.yaml",
            ],
            environment: ["TOOL": try Tool.path],
            folder: scratch.path
        )
        #expect(run.status == 0, "\(run.output) \(run.errors)")
    }

    @Test("An invalid scenario ends with 2 and names line and column, beside the results of the others")
    func wrong() async throws {
        let scratch = try Self.scratch(["wrong.yaml": "about: x\nstore: {}\n"])
        let words = ["rehearse", "wrong.yaml", "good.yaml", "--junit", "r.xml"]
        let run = try await Tool.runProcess(words, folder: scratch.path)
        #expect(run.status == 2)
        #expect(run.output.contains("INVALID  wrong") && run.output.contains("held  good  ("))
        let xml = try String(contentsOf: URL(filePath: scratch.path("r.xml")), encoding: .utf8)
        #expect(xml.contains("<testsuites tests=\"2\" failures=\"0\" errors=\"1\"") && xml.contains("type=\"invalid\""))
        #expect(
            run.errorLines.count == 1
                && run.errors.contains("wrong.yaml:2:1: the key 'store' is not known here; did you mean 'stores'?")
        )
        try Grammar().check(try await Tool.runProcess(["rehearse", "wrong.yaml", "--json"], folder: scratch.path))
    }

    @Test(
        "Invalid options, missing scenarios and unwritable files end with status 2, 10 or 12",
        arguments: [
            (["rehearse"], 2), (["rehearse", "good.yaml", "--jobs", "0"], 2),
            (["rehearse", "good.yaml", "--name", "x"], 2),
            (["rehearse", "--new", "a", "b"], 2), (["rehearse", "none.yaml"], 10), (["rehearse", "empty"], 10),
            (["rehearse", "good.yaml", "--junit", "none/r.xml"], 1), (["rehearse", "--new", "none/a.yaml"], 12),
        ]
    )
    func refusals(words: [String], status: Int) async throws {
        let scratch = try Self.scratch()
        try scratch.folder("empty")
        let run = try await Tool.runProcess(words, folder: scratch.path)
        #expect(Int(run.status) == status, "\(run.errors)")
        #expect(run.errorLines.count == 1)
    }

    @Test("A store made from a missing file ends with 2, and names line and column")
    func missingFile() async throws {
        let text = Self.good.replacing("{at: old.sqlite}", with: "{at: old.sqlite, file: Nope/S.sqlite}")
        let scratch = try Self.scratch(["missing.yaml": text])
        let run = try await Tool.runProcess(["rehearse", "missing.yaml"], folder: scratch.path)
        #expect(run.status == 2)
        #expect(run.errors.contains("missing.yaml:2:38: there is no file at "), "\(run.errors)")
    }

    @Test(
        "A folder that is missing for --junit or --report is reported before a scenario runs, with mkdir",
        arguments: ["--junit", "--report"]
    )
    func outputFirst(option: String) async throws {
        let scratch = try Self.scratch()
        let run = try await Tool.runProcess(["rehearse", "good.yaml", option, "none/r.xml"], folder: scratch.path)
        #expect(run.status == 1 && run.output.isEmpty)
        #expect(run.errors.contains("mkdir -p \(scratch.path("none"))"), "\(run.errors)")
    }

    @Test("A missing scenario is an invalid one beside the others, which run; the JUnit file has all of them")
    func missingBesideOthers() async throws {
        let scratch = try Self.scratch()
        let words = ["rehearse", "none.yaml", "good.yaml", "--junit", "r.xml"]
        let run = try await Tool.runProcess(words, folder: scratch.path)
        #expect(run.status == 2, "\(run.errors)")
        #expect(run.output.contains("INVALID  none") && run.output.contains("held  good  ("), "\(run.output)")
        #expect(run.errors.contains("the others were run"))
        let xml = try String(contentsOf: URL(filePath: scratch.path("r.xml")), encoding: .utf8)
        #expect(xml.contains("<testsuites tests=\"2\" failures=\"0\" errors=\"1\"") && xml.contains("type=\"invalid\""))
    }

    @Test("A single invalid scenario mentions no others")
    func wrongAlone() async throws {
        let scratch = try Self.scratch(["wrong.yaml": "about: ["])
        let run = try await Tool.runProcess(["rehearse", "wrong.yaml"], folder: scratch.path)
        #expect(run.status == 2 && run.errors.hasSuffix("Fix the scenario.\n"), "\(run.errors)")
    }

    @Test("rehearse --new writes a scenario that holds, and overwrites no file", arguments: ["Habits.sqlite", "it's"])
    func new(name: String) async throws {
        let scratch = try Scratch()
        let words = ["rehearse", "--new", "mine.yaml", "--name", name]
        let made = try await Tool.runProcess(words, folder: scratch.path)
        #expect(made.status == 0, "\(made.errors)")
        let text = try String(contentsOf: URL(filePath: scratch.path("mine.yaml")), encoding: .utf8)
        let run = try await Tool.runProcess(["rehearse", "mine.yaml"], folder: scratch.path)
        #expect(run.status == 0, "\(run.output)")
        let again = try await Tool.runProcess(words, folder: scratch.path)
        #expect(again.status == 12 && again.errors.contains("mine.yaml"))
        #expect(try String(contentsOf: URL(filePath: scratch.path("mine.yaml")), encoding: .utf8) == text)
        try Grammar().check(try await Tool.runProcess(["rehearse", "--new", "--json"], folder: scratch.path))
    }

    @Test("Scenarios support every verb except rehearse")
    func verbs() {
        let names = CommandTree.names(below: StoreMigrate.self).compactMap(\.first)
        #expect(Set(ToolVerbs.names) == Set(names).subtracting(["rehearse"]))
    }

    @Test("Processes of a rehearsal end when it is killed")
    func orphans() async throws {
        let scratch = try Self.scratch([
            "long.yaml": """
            about: It runs until it is killed.
            stores: {old: {at: old.sqlite, recipe: {seed: x, sql: [CREATE TABLE t (x)]}}}
            steps:
              - start: {process: app, opens: old, holds: reader}
              - share: [old, new.sqlite]
                meanwhile: [{at: proving, steps: [{relay: [watch, old]}]}]
            holds: [{absent: new.sqlite}]

            """
        ])
        let command = """
            ours() { grep -lsz rehearsed- /proc/[0-9]*/cmdline | xargs -r grep -lsa "$TMPDIR" | grep -c .; }
            "$TOOL" rehearse long.yaml & pid=$!
            until ls -d "$TMPDIR"/*/place/new.sqlite "$TMPDIR"/*/place/.store-migrate-* 2>/dev/null | grep -q .; do
              kill -0 $pid || exit 9
            done
            [ "$(ours)" -ge 2 ] || exit 7
            kill -KILL $pid; wait $pid
            for try in $(seq 3000); do
              [ "$(ours)" = 0 ] && exit 0
            done
            exit 8
            """
        let run = try await Tool.run(
            command: ["bash", "-c", command],
            environment: ["TOOL": try Tool.path, "TMPDIR": scratch.path],
            folder: scratch.path
        )
        #expect(run.status == 0, "\(run.output) \(run.errors)")
    }
}
