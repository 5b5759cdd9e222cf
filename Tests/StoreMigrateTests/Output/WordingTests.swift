import FoundationEssentials
import StoreMigration
import Testing

@testable import store_migrate

@Suite("Formatting of numbers, names and commands")
struct WordingTests {
    @Test(
        "Counts are grouped by thousands",
        arguments: [(0, "0"), (999, "999"), (1204, "1,204"), (1_000_000, "1,000,000"), (-4321, "-4,321")]
    )
    func grouped(_ number: Int64, _ expected: String) { #expect(Figures.grouped(number) == expected) }

    @Test("Only a count of one uses the singular", arguments: [(0, "0 objects"), (1, "1 object"), (2, "2 objects")])
    func count(_ number: Int64, _ expected: String) { #expect(Figures.count(number, "object") == expected) }

    @Test(
        "Sizes have one digit after the point",
        arguments: [
            (0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1000, "1.0 kB"), (4_100_000, "4.1 MB"),
            (2_650_000_000, "2.6 GB"), (Int64.max, "9,223,372,036.8 GB"),
        ]
    )
    func bytes(_ number: Int64, _ expected: String) { #expect(Figures.bytes(number) == expected) }

    @Test("Durations are rounded to 0.1 seconds", arguments: [(40, "0.0 s"), (412, "0.4 s"), (61_950, "62.0 s")])
    func seconds(_ milliseconds: Int64, _ expected: String) {
        #expect(Figures.seconds(.milliseconds(milliseconds)) == expected)
    }

    @Test(
        "Control and direction characters are escaped",
        arguments: [
            ("Habits.sqlite", "Habits.sqlite"), ("a\u{1B}[2Jb", #"a\u{1B}[2Jb"#), ("a\nb", #"a\u{A}b"#),
            ("\u{202E}txt", #"\u{202E}txt"#), ("習慣 🏃", "習慣 🏃"),
        ]
    )
    func escaped(_ text: String, _ expected: String) { #expect(Escaped.text(text) == expected) }

    @Test(
        "bash reads a quoted word back unchanged",
        arguments: [
            "plain/Habits.sqlite", "", "two words", "it's", "$HOME `x`", "*?[a]", "~", "a\nb\u{1B}'\\", "ü 習", "-n",
            "\u{85}", "it'\u{301}s; echo broken out #",
        ]
    )
    func quoted(_ word: String) async throws {
        let quoted = NextStep.commandLine([word])
        #expect(!quoted.unicodeScalars.contains(where: Escaped.isUnsafe))
        let run = try await Tool.run(command: ["bash", "-c", "printf '[%s]' \(quoted)"])
        #expect(run.output == "[\(word)]")
    }

    @Test(
        "A next step is printed as a complete command",
        arguments: [
            (NextStep.retire(old: "/a b"), "store-migrate retire '/a b' --state /s"),
            (.resume(old: "/a"), "store-migrate resume /a --state /s"),
            (
                .share(old: "/a", new: "/b", onBoth: .keepOld),
                "store-migrate share /a /b --on-both keep-old --state /s"
            ),
            (.status(old: "/a", new: "/b"), "store-migrate status /a /b --state /s"),
            (.verify(store: "/a"), "store-migrate verify /a"),
            (.inspect(path: "/a"), "store-migrate inspect /a"),
            (.removeSnapshot(path: "/g/s"), "rm -f /g/s"), (.makeFolder(path: "/g"), "mkdir -p /g"),
            (.abort(old: "/a"), "store-migrate abort /a --state /s"),
        ]
    )
    func command(_ step: NextStep, _ expected: String) {
        #expect(step.command(RepeatedOptions(stateFolder: "/s")) == expected)
        #expect("\(step)" == expected.replacing(" --state /s", with: ""))
    }

    @Test(
        "A next command repeats the options that it takes, and their paths are absolute",
        arguments: [
            (
                "share a b --legacy-defaults p.plist --legacy-key=k --role app=M.mom --json --allow-network-fs",
                NextStep.share(old: "/a", new: "/b"),
                "share /a /b --legacy-defaults CWD/p.plist --legacy-key=k --role app=CWD/M.mom --allow-network-fs"
            ),
            (
                "plan a b --policy late --on-both fail --plugin-path /p", .share(old: "/a", new: "/b", onBoth: .merge),
                "share /a /b --on-both merge --policy late --plugin-path /p"
            ),
            (
                "share a b --policy late --backup d", .merge(into: "/b", from: "/a"),
                "merge /b /a --policy late"
            ),
            (
                "merge b a --policy E=late --identity E=i --scan -n", .share(old: "/a", new: "/b"),
                "share /a /b --policy E=late --identity E=i"
            ),
            (
                "merge b a --policy late --base c", .merge(into: "/b", from: "/a", identifying: ["E"]),
                "merge /b /a --policy late --base CWD/c --identity E=ATTRIBUTE"
            ),
            ("unshare a b --policy late", .unshare(old: "/a", new: "/b"), "unshare /a /b --policy late"),
            (
                "share a b --resolver /r --plugin-timeout 5s --plugin-sandbox best-effort",
                .share(old: "/a", new: "/b"),
                "share /a /b --resolver /r --plugin-timeout 5s --plugin-sandbox best-effort"
            ),
            (
                "unshare a b --resolver /r --plugin-timeout 5s", .merge(into: "/a", from: "/b"),
                "merge /a /b --resolver /r --plugin-timeout 5s"
            ),
            (
                "unshare a b --policy late --plugin-timeout 5s", .merge(into: "/a", from: "/b"),
                "merge /a /b --policy late"
            ),
            // What a share decides is recorded.
            ("share a b --policy late", .unshare(old: "/a", new: "/b"), "unshare /a /b"),
            ("inspect s --show model --allow-network-fs", .inspect(path: "/s"), "inspect /s --allow-network-fs"),
            ("share a b --policy late --allow-network-fs", .verify(store: "/b"), "verify /b --allow-network-fs"),
            (
                "migrate s --model m --version 2 --lock-timeout 1s", .migrate(store: "/s", model: "/m", version: "2"),
                "migrate /s --model /m --version 2 --lock-timeout 1s"
            ),
        ]
    )
    func repeated(_ call: String, _ step: NextStep, _ expected: String) {
        let options = RepeatedOptions(of: call.split(separator: " ").map(String.init), stateFolder: nil)
        let folder = FileManager.default.currentDirectoryPath
        #expect(step.command(options) == "store-migrate " + expected.replacing("CWD", with: folder))
    }

    @Test("Columns of a table are aligned, and the last is not padded")
    func table() {
        #expect(TextTable.text([["a", "b", "c"], ["long", "x", "y"], ["z"]]) == "  a     b  c\n  long  x  y\n  z")
    }

    @Test(
        "A lock timeout of a number and a unit is parsed to milliseconds",
        arguments: [("250ms", 250), ("20s", 20_000), ("2m", 120_000), ("0s", 0), ("1440m", 86_400_000)]
    )
    func lockTimeout(_ text: String, _ milliseconds: Int64) throws {
        #expect(try LockTimeout(argument: text).milliseconds == milliseconds)
    }

    @Test(
        "A malformed or too long lock timeout is refused",
        arguments: ["", "5", "s", "-1s", "1.5s", "1h", "٣s", "1441m", "18446744073709551616ms"]
    )
    func wrongLockTimeout(_ text: String) { #expect(throws: (any Error).self) { try LockTimeout(argument: text) } }
}
