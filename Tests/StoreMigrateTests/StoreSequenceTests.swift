import FoundationEssentials
import StoreMigration
import Testing

@testable import store_migrate

@Suite("Several stores in one configuration")
struct StoreSequenceTests {
    private let scratch: Scratch

    init() async throws {
        scratch = try Scratch()
        for folder in ["private", "group"] { try scratch.folder(folder) }
        for name in ["a", "b", "c"] {
            _ = try await scratch.store("private/\(name).sqlite", "PRAGMA journal_mode=wal;" + Scratch.habits)
        }
    }

    private func configure(_ yaml: String) throws -> String {
        try scratch.file("store-migrate.yaml", Array(yaml.utf8))
    }

    private static let three = """
        level: sqlite
        stores:
          - from: private/a.sqlite
            to: group/a.sqlite
          - from: private/b.sqlite
            to: group/
            after: a.sqlite
          - from: private/c.sqlite
            to: group/shared-c.sqlite
            after: [a.sqlite, b.sqlite]
            old: capture

        """

    private func results(_ run: Tool.Run) throws -> [String] {
        try Grammar().check(run).filter { $0["type"]?.string == "storeResult" }
            .map { result in
                let name = result["store"]?.string?.split(separator: "/").last ?? ""
                return "\(name) \(result["outcome"]?.string ?? "") \(result["exit"]?.integer ?? -1)"
            }
    }

    @Test("share without OLD shares all stores in order, each with its own keys, and again does nothing")
    func all() async throws {
        let file = try configure(Self.three)
        let plan = try await Tool.run(["plan", "--config", file, "--json"])
        #expect(try results(plan) == ["a.sqlite shared 0", "b.sqlite shared 0", "c.sqlite shared 0"])
        #expect(try scratch.names(scratch.path("group")).isEmpty)
        let run = try await Tool.run(["share", "--config", file, "--json"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(try results(run) == ["a.sqlite shared 0", "b.sqlite shared 0", "c.sqlite shared 0"])
        let summary = try #require(try Grammar().check(run).last)
        #expect(summary["stores"]?.integer == 3 && summary["outcome"]?.string == "shared")
        for (old, new) in [("a", "a"), ("b", "b"), ("c", "shared-c")] {
            let content = try await SQLiteProgram.content(scratch.path("private/\(old).sqlite"))
            #expect(try await SQLiteProgram.content(scratch.path("group/\(new).sqlite")) == content)
        }
        // The third store has its own treatment.
        let write = "INSERT INTO habit (name) VALUES ('late')"
        for (name, isWritable) in [("a", false), ("c", true)] {
            let written = try await Tool.run(command: ["sqlite3", scratch.path("private/\(name).sqlite"), write])
            #expect((written.status == 0) == isWritable, "\(written.errors)")
        }
        let again = try await Tool.run(["share", "--config", file])
        #expect(again.status == 0)
        #expect(again.output.split(separator: "\n").count { $0.hasPrefix("Already shared") } == 2, "\(again.output)")
        #expect(again.output.contains("Merged"), "\(again.output)")
    }

    @Test(
        "A store whose predecessor failed is not begun and says so; the others are, and the worst status is the call's"
    )
    func predecessor() async throws {
        try FileManager.default.removeItem(atPath: scratch.path("private/b.sqlite"))
        _ = try scratch.file("private/b.sqlite", Array("no database at all, but a file with some text".utf8))
        _ = try await scratch.store("private/d.sqlite", "PRAGMA journal_mode=wal;" + Scratch.habits)
        let file = try configure(Self.three + "  - {from: private/d.sqlite, to: group/d.sqlite}\n")
        let run = try await Tool.run(["share", "--config", file, "--json"])
        #expect(run.status == 12, "\(run.errors)")
        #expect(
            try results(run) == [
                "a.sqlite shared 0", "b.sqlite foundButUnreadable 12", "c.sqlite notBegun -1", "d.sqlite shared 0",
            ]
        )
        #expect(run.errorLines.count == 2, "\(run.errors)")
        #expect(run.errors.contains("the store was not begun: b.sqlite comes first, and was not shared"))
        #expect(
            try scratch.names(scratch.path("group")).filter { $0.hasSuffix(".sqlite") && !$0.hasPrefix(".") } == [
                "a.sqlite", "d.sqlite",
            ]
        )
    }

    @Test("A call that names a store of the list uses its keys, and leaves the others alone")
    func one() async throws {
        let file = try configure(Self.three)
        let run = try await Tool.run(["share", scratch.path("private/c.sqlite"), "--config", file])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("shared-c.sqlite"))
        #expect(try scratch.names(scratch.path("group")).contains("shared-c.sqlite"))
        #expect(try !scratch.names(scratch.path("group")).contains("a.sqlite"))
        let elsewhere = try await Tool.run(
            ["plan", scratch.path("private/b.sqlite"), scratch.path("group/other.sqlite"), "--config", file]
        )
        #expect(elsewhere.output.contains("other.sqlite"), "\(elsewhere.errors)")
    }

    @Test("A missing store is not shared: those after it are not begun, and the outcome is that of the others")
    func missing() async throws {
        try FileManager.default.removeItem(atPath: scratch.path("private/a.sqlite"))
        let file = try configure(
            "if-missing: ignore\n" + Self.three + "  - {from: ./private/../private/d.sqlite, to: group/d.sqlite}\n"
        )
        _ = try await scratch.store("private/d.sqlite", "PRAGMA journal_mode=wal;" + Scratch.habits)
        let run = try await Tool.run(["share", "--config", file, "--json"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(
            try results(run) == [
                "a.sqlite nothingFound 0", "b.sqlite notBegun -1", "c.sqlite notBegun -1", "d.sqlite shared 0",
            ]
        )
        #expect(try Grammar().check(run).last?["outcome"]?.string == "shared")
        // A call that names the store another way finds it in the list, and its record has the plain path.
        let again = try await Tool.run(["share", scratch.path("private/d.sqlite"), "--config", file, "--json"])
        #expect(try Grammar().check(again).last?["outcome"]?.string == "alreadyShared", "\(again.errors)")
    }

    @Test(
        "A wrong list ends with status 2, with line and column, and nothing is begun",
        arguments: [
            ("stores: []\n", "line 1, column 9: 'stores' is a list of stores"),
            ("stores:\n  - to: x\n", "line 2, column 5: a store of the list needs 'from'"),
            (
                "stores:\n  - from: private/a.sqlite\n    after: b.sqlite\n",
                "line 3, column 12: 'after' is the file name"
            ),
            (
                "stores:\n  - {from: private/a.sqlite, to: g}\n  - {from: private/a.sqlite, to: h}\n",
                "line 3, column 12: this store is in the list twice"
            ),
            (
                "stores:\n  - {from: private/a.sqlite, levle: x}\n",
                "line 2, column 30: 'levle' is not a configuration key"
            ),
            (
                "stores:\n  - {from: private/a.sqlite, to: g}\n  - {from: ./private//a.sqlite, to: h}\n",
                "line 3, column 12: this store is in the list twice"
            ),
            (
                "stores:\n  - {from: private/a.sqlite, to: group/x}\n  - {from: private/b.sqlite, to: ./group/x}\n",
                "line 3, column 12: an earlier store in the list has the same new store"
            ),
            (
                "stores:\n  - {from: private/a.sqlite, to: group}\n  - {from: private/b.sqlite, to: group/a.sqlite}\n",
                "line 3, column 12: an earlier store in the list has the same new store"
            ),
            ("stores:\n  - {from: private/a.sqlite}\n", "name the new store once"),
            (
                "descriptions: d.json\nstores:\n  - {from: private/a.sqlite, to: group/a}\n  - {from: private/b.sqlite, to: group/b}\n",
                "several stores have the same file of descriptions"
            ),
        ]
    )
    func wrong(_ yaml: String, _ message: String) async throws {
        let run = try await Tool.run(["share", "--config", try configure(yaml)])
        #expect(run.status == 2)
        #expect(run.errorLines.count == 1 && run.errors.contains(message), "\(run.errors)")
        #expect(try scratch.names(scratch.path("group")).isEmpty)
    }

    @Test("The worst status is the call's, and of stores that ended well a changed one names the outcome")
    func worst() {
        func ending(_ outcome: MigrationOutcome, _ status: Int32) -> Ending {
            var ending = Ending(outcome)
            ending.exitStatus = status
            return ending
        }
        func whole(_ endings: Ending...) -> String {
            let whole = StoreSequence.whole(endings, of: endings.count)
            return "\(whole.outcome) \(whole.exitStatus)"
        }
        #expect(whole(ending(.alreadyShared, 3), Ending(.shared)) == "alreadyShared 3")
        #expect(whole(Ending(.alreadyShared), Ending(.shared), Ending(.alreadyShared)) == "shared 0")
        #expect(whole(Ending(.alreadyShared), Ending(.alreadyShared)) == "alreadyShared 0")
        #expect(whole(Ending(.verificationFailed), Ending(.failed), Ending(.busy)) == "verificationFailed 5")
    }

    @Test("One page cannot report several stores, and a call without OLD and without a list needs OLD")
    func unfit() async throws {
        let file = try configure(Self.three)
        let report = try await Tool.run(["share", "--config", file, "--report", scratch.path("page.html")])
        #expect(report.status == 2 && report.errors.contains("--report names one page"), "\(report.errors)")
        let none = try await Tool.run(["share", "--config", try configure("level: sqlite\n")])
        #expect(none.status == 2 && none.errors.contains("<old>"), "\(none.errors)")
    }
}
