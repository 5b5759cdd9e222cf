import Foundation
import TestSupport
import Testing

@Suite("HTML reports")
struct ReportTests {
    private static let conflictingStores = ["a", "b", "c"]

    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private var report: String { scratch.path("report.html") }

    /// The parsed report; throws if it is not well-formed XML.
    private func page() throws -> XMLTree {
        try XMLTree.parse(String(contentsOf: URL(filePath: report), encoding: .utf8))
    }

    private func build(_ recipe: String, _ name: String) async throws -> String {
        let built = try await Tool.runProcess([
            "fixture", "build", Tool.package + "/Fixtures/\(recipe)", scratch.path(name),
        ])
        #expect(built.status == 0, "\(built.errors)")
        return scratch.path(name)
    }

    private func headings(_ page: XMLTree) -> [String] { page.all("h2").map(\.text) }

    @Test("The report of a share shows proof, counts and timeline, and only its owner can read it")
    func share() async throws {
        try scratch.folder("new")
        let old = try await build("HabitCalendar/HabitCalendar.yaml", "Habits.sqlite")
        let run = try await Tool.runProcess(["share", old, scratch.path("new"), "--report", report, "--json"])
        #expect(run.status == 0, "\(run.errors)")
        let lines = try Grammar().check(run)
        #expect(lines.contains { $0["type"]?.string == "report" && $0["path"]?.string == report })
        let mode = try FileManager.default.attributesOfItem(atPath: report)[.posixPermissions] as? Int
        #expect(mode == 0o600)

        let page = try page()
        #expect(page.all("title").first?.text == "Shared Habits.sqlite")
        #expect(page.all("h1").map(\.text) == ["Shared Habits.sqlite"])
        #expect(
            headings(page) == [
                "What was moved", "What was proved", "When it was done", "How much there is", "Entities",
            ]
        )
        let cells = page.all("code").map(\.text)
        for path in [old, scratch.path("new/Habits.sqlite")] { #expect(cells.contains(path)) }
        let rows = page.all("tbody").flatMap { $0.all("tr") }.map { $0.children.map(\.text) }
        for level in ["files", "sqlite", "coredata", "content", "merging"] {
            #expect(rows.contains { $0.first == level && $0[2].hasPrefix("✓ passed") }, "\(level)")
        }
        for counts in [["Habit", "10", "10"], ["DaysChallenge", "14", "14"], ["HabitDay", "1,180", "1,180"]] {
            #expect(rows.contains(counts))
        }
        let relationships = "challenges: many DaysChallenge, inverse habit; days: many HabitDay, inverse habit"
        #expect(rows.contains { $0.first == "Habit" && $0.last == relationships })
        let texts = page.all("text").map(\.text)
        for step in ["planning", "copying", "proving", "publishing", "in place"] {
            #expect(texts.contains(step), "\(step)")
        }
        // The report of a share shows no values of rows.
        #expect(!page.text.contains("Morning run"))
    }

    @Test("The report of a merge shows conflicts with typed values of all sides, and marks the winning one")
    func conflicts() async throws {
        var stores: [String] = []
        for folder in Self.conflictingStores {
            try scratch.folder(folder)
            stores.append(try await build("HabitCalendar/HabitCalendar.yaml", "\(folder)/Habits.sqlite"))
        }
        let changes = [("Mine <b>", 60), ("Theirs \u{202E}", 90)]
        for (store, (name, seconds)) in zip(stores, changes) {
            let sql = """
                UPDATE ZHABIT SET ZNAME = '\(name)' WHERE Z_PK = 1;
                UPDATE ZHABIT SET ZCREATEDAT = ZCREATEDAT + \(seconds) WHERE Z_PK = 2;
                """
            _ = try await SQLiteProgram.run(store, sql)
        }
        let call = ["merge", stores[0], stores[1], "--base", stores[2], "--scan", "--report", report]
        for extra in [["-n"], []] {
            let run = try await Tool.runProcess(call + extra)
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output.hasSuffix("Report: \(report)\n"))
            let page = try page()
            let rows = page.all("tbody").flatMap { $0.all("tr") }
            let name = try #require(rows.first { $0.children.map(\.text).starts(with: ["Habit/1", "name"]) })
            #expect(
                name.children.dropFirst(2).map(\.text) == [
                    "Morning run", "Theirs \\u{202E}", "Mine <b>", "shared", "policy", "both stores changed the value",
                ]
            )
            #expect(name.all("mark").map(\.text) == ["Mine <b>"])
            let date = try #require(rows.first { $0.children.map(\.text).starts(with: ["Habit/2", "createdAt"]) })
            #expect(
                date.children.dropFirst(2).prefix(3).map(\.text) == [
                    "2026-07-20T06:59:00Z", "2026-07-20T07:00:30Z", "2026-07-20T07:00:00Z",
                ]
            )
        }
    }

    @Test("The report of verify lists findings of a damaged store, and calls an undamaged one sound")
    func verify() async throws {
        let damaged = try await build("Stores/missing-index-entry/recipe.yaml", "Damaged.sqlite")
        let run = try await Tool.runProcess(["verify", damaged, "--report", report])
        #expect(run.status == 3)
        var page = try page()
        #expect(page.all("h1").first?.text == "Damaged.sqlite needs attention")
        #expect(page.all("p").contains { $0.text == "! findings, exit status 3" })
        let rows = page.all("tbody").flatMap { $0.all("tr") }.map { $0.children.map(\.text) }
        #expect(rows.contains { $0[0].hasSuffix("indexDiffers") && $0[1] == "✕ error" && $0[2] == "ZNOTE" })

        let sound = try await build("Stores/clean/recipe.yaml", "Sound.sqlite")
        #expect(try await Tool.runProcess(["verify", sound, "--against", sound, "--report", report]).status == 0)
        page = try self.page()
        #expect(page.all("h1").first?.text == "Sound.sqlite is sound")
        #expect(page.all("figcaption").first?.text == "Upper bar: this store. Lower bar: the other.")
    }

    @Test("The report of a plain SQLite store counts tables and has no graph")
    func plain() async throws {
        try scratch.folder("new")
        let old = try await scratch.store("plain.db")
        #expect(try await Tool.runProcess(["share", old, scratch.path("new"), "--report", report]).status == 0)
        let page = try page()
        #expect(!headings(page).contains("Entities"))
        let rows = page.all("tbody").flatMap { $0.all("tr") }.map { $0.children.map(\.text) }
        #expect(rows.contains(["habit", "2", "2"]))
        #expect(rows.contains(["mark", "1", "1"]))
    }

    @Test("The report of a dry run shows the plan and says that nothing was written")
    func dryRun() async throws {
        let old = try await scratch.store("plain.db")
        let new = scratch.path("new.db")
        #expect(try await Tool.runProcess(["share", old, new, "-n", "--report", report]).status == 0)
        let page = try page()
        #expect(page.all("h1").first?.text == "Plan for plain.db")
        #expect(headings(page).prefix(2) == ["What would be moved", "What would be done"])
        #expect(page.all("p").contains { $0.text.hasSuffix("Nothing was written.") })
        #expect(!FileManager.default.fileExists(atPath: new))
    }

    @Test("The report of a failed run shows the exit status and the advice")
    func failed() async throws {
        let old = try await scratch.store("old.db")
        let other = try await scratch.store("other.db", "CREATE TABLE other(x); INSERT INTO other VALUES (1);")
        let calls: [([String], Int32, String)] = [
            (["share", old, other], 4, "old.db was not shared"),
            (["share", scratch.path("absent.db"), scratch.path("new.db")], 10, "There is no absent.db"),
            (["verify", scratch.path("absent.db")], 10, "absent.db was not verified"),
            (["merge", old, scratch.path("absent.db")], 10, "absent.db was not merged"),
        ]
        for (call, status, title) in calls {
            let run = try await Tool.runProcess(call + ["--report", report, "--json"])
            #expect(run.status == status, "\(call): \(run.errors)")
            #expect(run.errorLines.count == 1, "\(call): \(run.errors)")
            let lines = try Grammar().check(run)
            #expect(lines.contains { $0["type"]?.string == "report" })
            let page = try page()
            #expect(page.all("h1").first?.text == title)
            let advice = lines.first { $0["type"]?.string == "error" }?["advice"]?.string ?? "none"
            #expect(page.all("p").contains { $0.text.hasSuffix(advice) }, "\(advice)")
            #expect(page.all("p").contains { $0.text.hasPrefix("✕ ") && $0.text.hasSuffix("exit status \(status)") })
        }
    }

    @Test("The report of a rehearsal lists the scenarios that held, and expectation and finding of the others")
    func rehearsal() async throws {
        let recipe = Tool.package + "/Fixtures/Stores/clean/recipe.yaml"
        for (name, count) in [("right", "20"), ("wrong <b>", "21")] {
            let scenario = """
                about: A store that was just built.
                stores:
                  old: {recipe: \(recipe), at: app/Store.sqlite}
                steps:
                  - verify: [old]
                holds:
                  - {count: Note, in: old, is: \(count)}
                """
            try scratch.file("\(name).yaml", Array(scenario.utf8))
        }
        let call = [
            "rehearse", scratch.path("right.yaml"), scratch.path("wrong <b>.yaml"), "--report", report, "--json",
        ]
        let run = try await Tool.runProcess(call)
        #expect(run.status == 3, "\(run.errors) \(run.output)")
        #expect(try Grammar().check(run).contains { $0["type"]?.string == "report" })
        let page = try page()
        #expect(page.all("h1").first?.text == "1 of 2 scenarios held")
        #expect(headings(page) == ["Scenarios", "wrong <b>"])
        let rows = page.all("tbody").map { $0.all("tr").map { $0.children.map(\.text) } }
        #expect(rows.first?.map { $0[2] } == ["✓ held", "✕ failed"])
        let failure = try #require(rows.last?.first)
        #expect(failure[2].contains("21") && failure[3].contains("20"), "\(failure)")
    }

    @Test("A report path that cannot be written, or is taken, fails the verb before it changes anything")
    func refused() async throws {
        let old = try await scratch.store("old.db")
        let new = scratch.path("new.db")
        try scratch.file("mine.html", Array("<html>mine</html>".utf8))
        try scratch.folder("group")
        let before = try scratch.fingerprint()
        let places: [(String, Int32)] = [
            ("missing/report.html", 1), ("mine.html", 2), ("old.db", 2), ("old.db-wal", 2), ("new.db", 2),
        ]
        for (place, status) in places {
            for call in [["share", old, new], ["verify", old], ["merge", old, old]]
            where place != "new.db" || call[0] == "share" {
                let run = try await Tool.runProcess(call + ["--report", scratch.path(place)])
                #expect(run.status == status, "\(call) \(place): \(run.errors)")
                #expect(run.errorLines.count == 1, "\(run.errors)")
                #expect(run.output.isEmpty)
            }
        }
        let taken = scratch.path("group/old.db")
        #expect(try await Tool.runProcess(["share", old, scratch.path("group"), "--report", taken]).status == 2)
        #expect(try await Tool.runProcess(["share", old, new, "--report", "-"]).status == 2)
        for option in ["--report", "--resolver"] {
            #expect(try await Tool.runProcess(["merge", old, "--from-parked", "x", option, report]).status == 2)
        }
        #expect(try scratch.fingerprint() == before)
    }

    @Test("share with a report in a read-only folder ends with status 12 and shares nothing")
    func unwritable() async throws {
        let nobody = try Nobody(scratch)
        let place = try nobody.folder("app")
        try await nobody.shell("sqlite3 '\(place)/old.db' 'CREATE TABLE t(x)'")
        let closed = try scratch.folder("closed")
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: closed)
        let run = try await nobody.run(
            ["share", place + "/old.db", place + "/new.db", "--report", closed + "/report.html"],
            temporary: place
        )
        #expect(run.status == 12, "\(run.errors)")
        #expect(try scratch.names(place) == ["old.db"])
        #expect(try scratch.names(closed).isEmpty)
    }
}
