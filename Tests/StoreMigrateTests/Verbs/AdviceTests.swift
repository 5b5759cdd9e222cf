import Foundation
import StoreMigration
import Testing

/// What a refusal or a status advises in one situation.
@Suite("Advice")
struct AdviceTests {
    private static let status = NextCommandTests.status
    private static let recipe = NextCommandTests.recipe

    @Test("status --check ends with 3 while there is something to do, and a retire that can wait is not")
    func check() async throws {
        let scratch = try Scratch()
        try scratch.folder("old")
        try scratch.folder("new")
        let old = try await scratch.store("old/H.db", "CREATE TABLE t(a); INSERT INTO t VALUES(1);")
        let check = ["status", old, scratch.path("new"), "--check"]
        #expect(try await Tool.run(check).status == 3)
        _ = try await Tool.run(["share", old, scratch.path("new"), "--old", "capture"])
        #expect(try await Tool.run(check).status == 0)
        _ = try await SQLiteProgram.run(old, "INSERT INTO t VALUES(2)")
        #expect(try await Tool.run(check).status == 3)
        let plain = try await Tool.run(["status", old, scratch.path("new")])
        #expect(plain.status == 0 && plain.output.contains("Next:  store-migrate share"))
        _ = try await Tool.run(["share", old, scratch.path("new")])
        #expect(try await Tool.run(check).status == 0)
    }

    @Test("status reports late writes when only an external file of the old store changed in place")
    func externalFileInPlace() async throws {
        let scratch = try await NextCommandTests.scratch(after: NextCommandTests.externalWrite)
        let run = try await Tool.run(Self.status + ["--json"], folder: scratch.path)
        #expect(try Grammar().check(run).contains { $0["lateWrites"]?.string == "found" })
        let text = try await Tool.run(Self.status, folder: scratch.path)
        #expect(text.output.contains(/late writes +found/))
    }

    @Test("status with another new path reports no late writes, and its next command names the path of the share")
    func otherNewPath() async throws {
        let scratch = try Scratch()
        let old = try await scratch.store("old.db", "CREATE TABLE t(a); INSERT INTO t VALUES(1);")
        let other = try await scratch.store("other.db", "CREATE TABLE t(a);")
        let new = "\(scratch.path)/new.db"
        try #require(try await Tool.run(["share", old, new, "--old", "capture"]).status == 0)
        let run = try await Tool.run(["status", old, other, "--json"])
        let status = try Grammar().check(run).first { $0["run"]?.string == "shared" }
        #expect(status?["lateWrites"]?.string == "notApplicable")
        #expect(status?["next"]?.string == "store-migrate status \(old) \(new)")
    }

    @Test("status offers the commands of which a person chooses one when both stores have objects")
    func choices() async throws {
        let scratch = try Scratch()
        let old = try await scratch.store("old.db", "CREATE TABLE t(a); INSERT INTO t VALUES(1);")
        let new = try await scratch.store("new.db", "CREATE TABLE t(a); INSERT INTO t VALUES(2);")
        let text = try await Tool.run(["status", old, new])
        let choices = ["merge", "keep-old", "keep-new"].map { "  store-migrate share \(old) \(new) --on-both \($0)" }
        #expect(text.lines.suffix(4) == ["Choose one:"] + choices)
    }

    @Test("A new path that ends in a slash is a folder: a missing one is refused with mkdir, and no file gets its name")
    func trailingSlash() async throws {
        let scratch = try Scratch()
        let old = try await scratch.store("H.db")
        let folder = scratch.path("newer")
        let run = try await Tool.run(["share", old, folder + "/"])
        #expect(run.status == 10)
        #expect(run.errors.contains("mkdir -p \(NextStep.commandLine([folder]))"))
        #expect(try scratch.names(scratch.path) == ["H.db"])
        let named = try await Tool.run(["share", old, folder, "--json"])
        #expect(
            try Grammar().check(named)
                .contains { $0["code"]?.string == "otherExtension" && $0["severity"]?.string == "warning" }
        )
    }

    @Test("A store that is not Core Data's, an unknown entity and a plugin that is not executable get fitting advice")
    func advice() async throws {
        let scratch = try Scratch()
        let plain = try await scratch.store("plain.db")
        for words in [["fetch", plain, "Habit"], ["history", plain]] {
            let run = try await Tool.run(words)
            #expect(run.status == 13 && !run.errors.contains("destination"), "\(run.errors)")
        }
        let store = scratch.path("H.sqlite")
        _ = try await Tool.run(["fixture", "build", "\(Tool.package)/Fixtures/HabitCalendar/HabitCalendar.yaml", store])
        for (entity, hint) in [("Habbit", "did you mean 'Habit'?"), ("Note", "it has DaysChallenge, Habit, HabitDay")] {
            let run = try await Tool.run(["fetch", store, entity])
            #expect(run.errors.contains(hint), "\(run.errors)")
        }
        let folder = try scratch.folder("plugins")
        let plugin = try scratch.file("plugins/store-migrate-strategy-Mine", Array("#!/bin/sh\n".utf8))
        let run = try await Tool.run(["strategies", "show", "Mine", "--plugin-path", folder])
        #expect(run.errors.contains("chmod \(geteuid() == 0 ? "" : "u")+x '\(plugin)'"), "\(run.errors)")
    }

    @Test("Verbs for entities and history end with 13 on plain SQLite, and name the commands that work there")
    func plainStore() async throws {
        let scratch = try Scratch()
        let plain = try await scratch.store("plain.db")
        let calls = [
            ["fetch", plain, "Habit"], ["history", plain], ["history", "prune", plain, "--keep", "7d"],
            ["inspect", plain, "--show", "model"],
        ]
        for words in calls {
            let run = try await Tool.run(words)
            #expect(run.status == 13 && run.errors.contains("a plain SQLite store"), "\(words): \(run.errors)")
            let advice = "sqlite3 reads its tables. Next: store-migrate inspect \(plain)\n"
            #expect(run.errors.hasSuffix(advice), "\(run.errors)")
        }
        #expect(try await Tool.run(["inspect", plain]).status == 0)
        #expect(try await Tool.run(["diff", plain, plain]).status == 0)
    }

    @Test("A merge that needs an identity names the option in its next command, which works once it is completed")
    func identity() async throws {
        let scratch = try Scratch()
        let old = try await scratch.store("old.db", "CREATE TABLE t(a); INSERT INTO t VALUES(1);")
        let new = try await scratch.store(
            "new.db",
            "CREATE TABLE t(a); CREATE TABLE n(id INTEGER PRIMARY KEY, b); INSERT INTO t VALUES(2);"
        )
        let (one, other) = try await (
            scratch.store("one.db", "CREATE TABLE n(id INTEGER PRIMARY KEY, b); INSERT INTO n(b) VALUES('a');"),
            scratch.store("other.db", "CREATE TABLE n(id INTEGER PRIMARY KEY, b); INSERT INTO n(b) VALUES('b');")
        )
        #expect(try await Tool.run(["status", old, new]).output.contains("share \(old) \(new) --on-both merge\n"))
        let status = try await Tool.run(["status", one, other])
        let offered = "store-migrate share \(one) \(other) --on-both merge --identity n=ATTRIBUTE"
        #expect(status.lines.contains("  " + offered), "\(status.output)")
        for verb in ["plan", "share"] {
            let refused = try await Tool.run([verb, one, other, "--on-both", "merge"])
            #expect(refused.status == 4 && refused.errors.hasSuffix("Next: \(offered)\n"), "\(refused.errors)")
        }
        let refused = try await Tool.run(["merge", other, one])
        let next = "Next: store-migrate merge \(other) \(one) --identity n=ATTRIBUTE\n"
        #expect(refused.status == 4 && refused.errors.hasSuffix(next), "\(refused.errors)")
        let completed = offered.replacing("ATTRIBUTE", with: "b").split(separator: " ").dropFirst().map(String.init)
        #expect(try await Tool.run(completed).status == 0)
        #expect(try await SQLiteProgram.run(other, "SELECT b FROM n ORDER BY b") == "a\nb\n")
    }

    @Test(
        "An identity that names what the store lacks ends every verb with 2 and the near names, merged or not",
        arguments: [true, false]
    )
    func wrongIdentity(isManaged: Bool) async throws {
        let scratch = try Scratch()
        try scratch.folder("old")
        try scratch.folder("new")
        let (old, new) = (scratch.path("old/H.db"), scratch.path("new/H.db"))
        let recipe = "\(Tool.package)/Fixtures/HabitCalendar/HabitCalendar.yaml"
        if isManaged {
            _ = try await Tool.run(["fixture", "build", recipe, old])
        } else {
            _ = try await scratch.store("old/H.db")
        }
        let wrong =
            isManaged
            ? [("Habit=creatdAt", "did you mean 'createdAt'?"), ("Hobbit=id", "did you mean 'Habit'?")]
            : [("habit=nam", "did you mean 'name'?"), ("habits=name", "did you mean 'habit'?")]
        func check(_ calls: [[String]]) async throws {
            for call in calls {
                for (identity, hint) in wrong {
                    let run = try await Tool.run(call + ["--identity", identity])
                    #expect(run.status == 2 && run.errors.contains(hint), "\(call): \(run.status) \(run.errors)")
                }
            }
        }
        try await check([["plan", old, new], ["share", old, new], ["share", old, new, "-n"]])
        #expect(try scratch.names(scratch.path("new")).isEmpty)
        #expect(try await Tool.run(["share", old, new, "--level", "files"]).status == 0)
        let calls = [["plan", old, new], ["share", old, new], ["unshare", old, new], ["merge", new, old]]
        try await check(calls + [["merge", new, old, "-n"]])
        #expect(try await Tool.run(["status", old, new, "--check"]).status == 0)
    }

    /// Calls that write to a path, with the path last, and whether it may be a folder.
    static let outputs: [(words: [String], takesFolder: Bool)] = [
        (["backup", "old/H.db", "-o"], true), (["restore", "H.tar"], true),
        (["fixture", "build", recipe.replacing("'", with: "")], false),
        (["rehearse", "s.yaml", "--junit"], false), (["rehearse", "s.yaml", "--report"], false),
        (["rehearse", "--new"], false), (["share", "old/H.db", "new/H.db", "--report"], false),
        (["share", "old/H.db", "new/H.db", "--descriptions"], false),
        (["plan", "old/H.db", "new/H.db", "--descriptions"], false),
    ]

    @Test(
        "A path to write to that ends in a slash names a folder: no file gets its name, and mkdir is the next command"
    )
    func trailingSlashes() async throws {
        let scratch = try await NextCommandTests.scratch(
            after: "\(OutcomeTests.make); tool backup old/H.db -o H.tar; tool rehearse --new s.yaml"
        )
        let before = try scratch.names(scratch.path)
        for (words, takesFolder) in Self.outputs {
            let missing = try await Tool.run(words + ["dir/", "--json"], folder: scratch.path)
            #expect(missing.status == 10, "\(words): \(missing.errors)")
            #expect(missing.errors.contains("mkdir -p \(scratch.path)/dir"), "\(words): \(missing.errors)")
            #expect(try scratch.names(scratch.path) == before, "\(words)")
            let file = try await Tool.run(words + ["H.tar/"], folder: scratch.path)
            #expect(file.status == 2 && file.errors.contains("this is a file"), "\(words): \(file.errors)")
            #expect(try scratch.names(scratch.path) == before, "\(words)")
            try scratch.folder("dir")
            let present = try await Tool.run(words + ["dir/"], folder: scratch.path)
            #expect(present.status == (takesFolder ? 0 : 2), "\(words): \(present.errors)")
            #expect(takesFolder || present.errors.contains("Name a file in it."), "\(words): \(present.errors)")
            #expect(try scratch.names(scratch.path("dir")).isEmpty != takesFolder)
            try FileManager.default.removeItem(atPath: scratch.path("dir"))
        }
        #expect(try scratch.names(scratch.path("new")).isEmpty)
    }

    @Test("A folder of plugins that does not exist ends every verb that asks a strategy with 2 and its path")
    func missingPlugins() async throws {
        let scratch = try Scratch()
        let old = try await scratch.store("H.db")
        let calls = [
            ["strategies", "list"], ["strategies", "show", "WriteAheadLog"],
            ["plan", old, scratch.path("new.db"), "--strategy", "WriteAheadLog"],
            ["share", old, scratch.path("new.db"), "--strategy", "Mine"],
        ]
        for call in calls {
            let run = try await Tool.run(call + ["--plugin-path", scratch.path("none")])
            #expect(run.status == 2 && run.errors.contains("there is no folder of plugins: \(scratch.path)/none"))
        }
        #expect(try scratch.names(scratch.path) == ["H.db"])
    }
}
