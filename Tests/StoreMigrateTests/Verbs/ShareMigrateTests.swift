import FoundationEssentials
import Glibc
import StoreAccess
import TestSupport
import Testing

@Suite("Verb share with a migration")
struct ShareMigrateTests {
    private static let former = "SELECT ZNAME, hex(ZPICTURE) FROM ZHABIT ORDER BY Z_PK"
    private static let migrated = "SELECT ZNAME, ZGOAL FROM ZHABIT ORDER BY Z_PK"

    /// A store to share, the new path, and the command that moves and migrates.
    private struct Share {
        let versions: ModelVersions
        let new: String
        let model: String
        var old: String { versions.store }
        var words: [String] { ["share", old, new, "--model", model, "--migrate", "--level", "content"] }

        init(
            journalMode: String = "wal",
            model: (ModelVersions) throws -> String = { try $0.second() }
        ) async throws {
            versions = try await ModelVersions(journalMode: journalMode, in: "old")
            new = try versions.scratch.folder("new") + "/Habits.sqlite"
            self.model = try model(versions)
        }

        func files(_ folder: String) throws -> [String: Scratch.Entry] {
            try versions.scratch.fingerprint(versions.scratch.path(folder))
        }
    }

    @Test(
        "A store is moved and migrated in one run; the old one keeps its version, and running again does nothing",
        arguments: ["wal", "rollback"],
        ["fence", "capture"]
    )
    func moving(journalMode: String, treatment: String) async throws {
        let share = try await Share(journalMode: journalMode)
        let words = share.words.filter { $0 != "content" && $0 != "--level" } + ["--old", treatment]
        let before = try await SQLiteProgram.run(share.old, Self.former)

        let run = try await Tool.run(words)

        #expect(run.status == 0, "\(run.output)\(run.errors)")
        #expect(run.lines[0].hasPrefix("Shared Habits.sqlite: 2 objects, 1 external file, "))
        #expect(run.lines[1].contains("proved: files, sqlite, coredata, content, merging"))
        #expect(run.output.contains("migrated to Second.xcdatamodel"))
        #expect(try await SQLiteProgram.run(share.old, Self.former) == before)
        #expect(try await SQLiteProgram.run(share.new, Self.former) == before)
        #expect(try await SQLiteProgram.run(share.new, Self.migrated) == "Run|3\nRead|3\n")
        #expect(
            try await SQLiteProgram.run(share.new, "PRAGMA journal_mode")
                == (journalMode == "wal" ? "wal\n" : "delete\n")
        )
        #expect(try await Tool.run(["verify", share.new]).status == 0)
        let names = try Set(share.versions.scratch.names(share.versions.scratch.path("new")))
            .subtracting(["Habits.sqlite-wal", "Habits.sqlite-shm"])
        #expect(names == ["Habits.sqlite", ".Habits_SUPPORT", ".Habits.sqlite.store-migrate.json"])
        for words in [words, ["share", share.old, share.new]] {
            let again = try await Tool.run(words)
            #expect(again.status == 0 && again.output.hasPrefix("Already shared"), "\(again.output)\(again.errors)")
        }
        #expect(try await Tool.run(["verify", share.new, "--level", "content"]).status == 0)
        let retired = try await Tool.run(["retire", share.old])
        #expect(retired.status == 0, "\(retired.output)\(retired.errors)")
        #expect(try await SQLiteProgram.run(share.new, Self.migrated) == "Run|3\nRead|3\n")
    }

    @Test("The plan shows the mapping, and nothing is written", arguments: [["plan"], ["share", "-n"]])
    func planned(verb: [String]) async throws {
        let share = try await Share()
        let before = try share.versions.scratch.fingerprint()
        let words = verb + share.words.dropFirst()
        let plan = try await Tool.run(words)
        #expect(plan.status == 0)
        #expect(plan.output.contains("2. migrate the copy to another model version for NEW"), "\(plan.output)")
        #expect(plan.output.contains("  migrates to Second.xcdatamodel:\n  attributeAdded  Habit.goal\n"))
        let records = try Grammar().check(try await Tool.run(words + ["--json"]))
        #expect(records.contains { $0["type"]?.string == "mappingChange" && $0["property"]?.string == "goal" })
        #expect(records.first { $0["type"]?.string == "migration" }?["verdict"]?.string == "inferred")
        #expect(try share.versions.scratch.fingerprint() == before)
    }

    @Test("The record of a share has its migration, and files without a reference stay at the old path only")
    func records() async throws {
        let share = try await Share { versions in
            try versions.document("Second", ModelVersions.habit().replacing("picture", with: "image"))
        }
        let plan = try Grammar().check(try await Tool.run(["plan"] + share.words.dropFirst() + ["--json"]))
        let run = try await Tool.run(share.words + ["--json"])
        #expect(run.status == 0, "\(run.errors)")
        let records = try Grammar().check(run)
        let lost = records.first { $0["code"]?.string == "notInNewVersion" }
        #expect(plan.contains { $0["code"]?.string == "notInNewVersion" && $0["message"] == lost?["message"] })
        #expect(lost?["message"]?.string?.contains("lacks Habit.picture (1)") == true)
        let record = try #require(records.first { $0["type"]?.string == "migration" })
        #expect(record["copiedTables"]?.array?.map(\.string) == ["ZHABIT"])
        let omitted = try #require(record["removedFiles"]?.array?.first?.string)
        let scratch = share.versions.scratch
        #expect(try scratch.names(scratch.path("old/.Habits_SUPPORT/_EXTERNAL_DATA")) == [omitted])
        #expect(try !scratch.names(scratch.path("new")).contains(".Habits_SUPPORT"))
        #expect(try await Tool.run(["verify", share.new, "--level", "content"]).status == 0)
        #expect(try await Tool.run(share.words).output.hasPrefix("Already shared"))
    }

    @Test("A migration that the models or the rows forbid is refused, and nothing is changed", arguments: refusals)
    func refused(_ refusal: MigrateVerbTests.Refusal) async throws {
        let share = try await Share { try $0.document("Second", refusal.entities) }
        try await SQLiteProgram.run(share.old, refusal.sql + "; PRAGMA wal_checkpoint(TRUNCATE)")
        let before = try share.versions.scratch.fingerprint()
        for words in [["plan"] + share.words.dropFirst(), share.words] {
            let run = try await Tool.run(words)
            #expect(run.status == 13 && run.errorLines.count == 1, "\(run.output)\(run.errors)")
            #expect(refusal.code.map { run.errors.contains("\($0)") } != false, "\(run.errors)")
            #expect(!run.errors.contains("twins"), "a message contains a value")
            #expect(try share.versions.scratch.fingerprint() == before)
        }
    }

    static let refusals = MigrateVerbTests.refusals

    @Test("A downgrade, and a newer store at the new path, are refused")
    func newer() async throws {
        let share = try await Share()
        let renamed = #"<attribute name="title" attributeType="String" elementID="name"/>"#
        let third = try share.versions.document("Third", ModelVersions.habit(name: renamed))
        let newer = try await ModelVersions()
        #expect(try await Tool.run(["migrate", newer.store, "--model", third]).status == 0)
        try await SQLiteProgram.run(newer.store, "PRAGMA wal_checkpoint(TRUNCATE)")
        let scratch = share.versions.scratch
        try scratch.copy(newer.store, as: "new/Habits.sqlite")
        let before = try scratch.fingerprint()
        let run = try await Tool.run(share.words + ["--on-both", "keep-old"])
        #expect(run.status == 13, "\(run.output)\(run.errors)")
        #expect(run.errors.contains("a newer model than the named one: \(share.new)"), "\(run.errors)")
        #expect(try scratch.fingerprint() == before)

        let first = try scratch.folder("other") + "/Habits.sqlite"
        let downgrade = try await Tool.run(["share", share.new, first, "--migrate", "--model", share.model])
        #expect(downgrade.status == 13 && downgrade.errors.contains("says that it was renamed"), "\(downgrade.errors)")
        #expect(try scratch.names(scratch.path("other")).isEmpty)
    }

    @Test("A store that is shared with an older version is migrated by a command of its own")
    func sharedBefore() async throws {
        let share = try await Share()
        #expect(try await Tool.run(["share", share.old, share.new, "--level", "content"]).status == 0)
        let before = try share.files("new")
        let run = try await Tool.run(share.words)
        let migrate = ["migrate", share.new, "--model", share.model]
        #expect(run.status == 4 && run.errorLines.count == 1, "\(run.output)\(run.errors)")
        #expect(run.errors.contains("store-migrate \(migrate.joined(separator: " "))"), "\(run.errors)")
        #expect(try share.files("new") == before)

        #expect(try await Tool.run(migrate).status == 0)

        for words in [share.words, ["share", share.old, share.new]] {
            let again = try await Tool.run(words)
            #expect(again.status == 0 && again.output.hasPrefix("Already shared"), "\(again.output)\(again.errors)")
        }
    }

    @Test(
        "A migrated copy replaces a store without objects, and a store that the caller gives up",
        arguments: [0, 1, 2]
    )
    func replacing(form: Int) async throws {
        let share = try await Share()
        let other = try await ModelVersions(leaves: "nothing")
        // The third store has the new version already.
        if form == 2 { #expect(try await Tool.run(["migrate", other.store, "--model", share.model]).status == 0) }
        try await SQLiteProgram.run(
            other.store,
            form == 1 ? "UPDATE ZHABIT SET ZNAME = 'Other'" : "DELETE FROM ZHABIT; PRAGMA wal_checkpoint(TRUNCATE)"
        )
        try await SQLiteProgram.run(other.store, "PRAGMA wal_checkpoint(TRUNCATE)")
        try share.versions.scratch.copy(other.store, as: "new/Habits.sqlite")
        if form == 1 {
            let refused = try await Tool.run(share.words)
            #expect(refused.status == 4, "\(refused.output)\(refused.errors)")
        }
        let run = try await Tool.run(share.words + (form == 1 ? ["--on-both", "keep-old"] : []))
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        #expect(try await SQLiteProgram.run(share.new, Self.migrated) == "Run|3\nRead|3\n")
        #expect(try await Tool.run(["verify", share.new, "--level", "content"]).status == 0)
        let scratch = share.versions.scratch
        let aside = try scratch.names(scratch.path("new")).filter { $0.hasPrefix(".store-migrate-aside-") }
        #expect(aside.count == 1)
    }

    @Test("A store is migrated in a copy and merged into a store of the new version")
    func merging() async throws {
        let share = try await Share()
        let other = try await ModelVersions(leaves: "nothing")
        #expect(try await Tool.run(["migrate", other.store, "--model", share.model]).status == 0)
        try await SQLiteProgram.run(
            other.store,
            "UPDATE ZHABIT SET ZNAME = 'Swim', ZGOAL = 9 WHERE Z_PK = 2; PRAGMA wal_checkpoint(TRUNCATE)"
        )
        let scratch = share.versions.scratch
        try scratch.copy(other.store, as: "new/Habits.sqlite")
        try scratch.copy(other.scratch.path(".Habits_SUPPORT"), as: "new/.Habits_SUPPORT")
        let words = share.words + ["--on-both", "merge", "--identity", "Habit=name"]
        let plan = try await Tool.run(words + ["-n"])
        #expect(plan.status == 0, "\(plan.output)\(plan.errors)")

        let run = try await Tool.run(words)

        #expect(run.status == 0 && run.output.hasPrefix("Merged"), "\(run.output)\(run.errors)")
        let rows = try await SQLiteProgram.run(share.new, "SELECT ZNAME, ZGOAL FROM ZHABIT ORDER BY ZNAME")
        #expect(rows == "Read|3\nRun|3\nSwim|9\n")
        #expect(try await Tool.run(["verify", share.new]).status == 0)
        #expect(try await Tool.run(share.words).output.hasPrefix("Already shared"))
    }

    @Test("Strategies describe the migrated copy: history, journal mode, and models that open the result")
    func described() async throws {
        let share = try await Share()
        let first = try share.versions.document("First", ModelVersions.habit())
        let strategies = [
            "--strategy", "RollbackJournal", "--strategy", "HistoryTracking", "--role", "app=" + share.model,
        ]
        let stale = try await Tool.run(share.words + strategies + ["--role", "extension(widget)=" + first])
        #expect(stale.status == 13 && stale.errors.contains("extension(widget) does not carry"), "\(stale.errors)")
        #expect(try share.files("new").isEmpty)

        let run = try await Tool.run(share.words + strategies + ["--role", "extension(widget)=" + share.model])

        #expect(run.status == 0, "\(run.output)\(run.errors)")
        #expect(try await SQLiteProgram.run(share.new, "PRAGMA journal_mode") == "delete\n")
        #expect(try await SQLiteProgram.run(share.new, Self.migrated) == "Run|3\nRead|3\n")
        #expect(try await Tool.run(["verify", share.new, "--level", "content"]).status == 0)
    }

    @Test("LightweightMigration migrates the copy to the model of a role that asks for it, and the plan shows it")
    func strategy() async throws {
        let share = try await Share()
        let first = try share.versions.document("First", ModelVersions.habit())
        let place = ["share", share.old, share.new, "--level", "content"]
        let second = place + ["--strategy", "LightweightMigration", "--role", "app=" + share.model]
        let stale = try await Tool.run(second + ["--role", "extension(widget)=" + first])
        #expect(stale.status == 2 && stale.errors.contains("different model versions"), "\(stale.errors)")
        let other = try await Tool.run(
            second.map { $0 == "LightweightMigration" ? $0 + ":migrate=false" : $0 } + ["-n"]
        )
        #expect(!other.output.contains("migrates to"), "\(other.output)\(other.errors)")
        let plan = try await Tool.run(second + ["-n"])
        #expect(
            plan.status == 0 && plan.output.contains("migrates to Second.xcdatamodel:"),
            "\(plan.output)\(plan.errors)"
        )

        let run = try await Tool.run(second + ["--role", "extension(widget)"])

        #expect(run.status == 0 && run.output.contains("migrated to Second.xcdatamodel"), "\(run.output)\(run.errors)")
        #expect(try await SQLiteProgram.run(share.new, Self.migrated) == "Run|3\nRead|3\n")
        #expect(try await Tool.run(second).output.hasPrefix("Already shared"))
    }

    @Test("A configuration file turns the migration of a share on, and names the model")
    func configured() async throws {
        let share = try await Share()
        let text = "model: \(share.model)\nmigrate: true\n"
        let file = try share.versions.scratch.file("store-migrate.yaml", Array(text.utf8))
        let words = ["share", share.old, share.new, "--level", "content", "--config", file]
        let run = try await Tool.run(words)
        #expect(run.status == 0 && run.output.contains("migrated to Second.xcdatamodel"), "\(run.output)\(run.errors)")
        #expect(try await SQLiteProgram.run(share.new, Self.migrated) == "Run|3\nRead|3\n")
        #expect(try await Tool.run(words).output.hasPrefix("Already shared"))
    }

    @Test("Options of a migration that do not fit together end with status 2")
    func usage() async throws {
        let share = try await Share()
        let place = ["share", share.old, share.new]
        for words in [
            place + ["--migrate"], place + ["--model", share.model, "--version", "Second"],
            place + ["--migrate", "--model", share.model, "--version", "Second"],
            place + ["--migrate", "--model", share.old + "-none"],
        ] {
            let run = try await Tool.run(words)
            #expect(run.status == 2 && run.output.isEmpty, "\(words): \(run.status) \(run.errors)")
        }
        #expect(try share.files("new").isEmpty)
    }

    @Test(
        "No acknowledged row is lost when programs write while their store is moved and migrated",
        arguments: ["wal", "rollback"],
        ["fence", "capture"]
    )
    func writers(journalMode: String, treatment: String) async throws {
        let share = try await Share(journalMode: journalMode)
        try await SQLiteProgram.run(
            share.old,
            "CREATE TABLE log (id INTEGER PRIMARY KEY, writer INTEGER, text TEXT); PRAGMA wal_checkpoint"
        )
        let words = share.words + ["--old", treatment, "--lock-timeout", "10s"]
        let writers = try (1...2).map { try StoreWriterProcess(share.old, loop: $0) }
        for writer in writers { writer.waitForLines(20) }
        // A program that writes all the time may keep a fence from following the migration; the run is then refused.
        let first = try await Tool.runProcess(words)
        #expect(first.status == 0 || treatment == "fence" && first.status == 11, "\(first.output)\(first.errors)")
        if first.status == 11 {
            #expect(try share.files("new").isEmpty)
        }
        var acknowledged: Set<Int64> = []
        for writer in writers {
            let lines = try writer.finish()
            #expect(
                lines.last == (first.status == 0 && treatment == "fence" ? "fenced" : "ended"),
                "\(lines.suffix(2))"
            )
            acknowledged.formUnion(lines.compactMap { Int64($0) })
        }
        if first.status == 11 {
            let again = try await Tool.runProcess(words)
            #expect(again.status == 0, "\(again.output)\(again.errors)")
        }
        let ids = "SELECT id FROM log ORDER BY id"
        let old = try await SQLiteProgram.run(share.old, ids).split(separator: "\n").compactMap { Int64($0) }
        let new = try await SQLiteProgram.run(share.new, ids).split(separator: "\n").compactMap { Int64($0) }
        #expect(acknowledged.count >= 40 && acknowledged.subtracting(old).isEmpty)
        // After a capture, the old store has the rows that the next merge brings.
        if treatment == "fence" { #expect(old == new) } else { #expect(Set(old).isSuperset(of: new)) }
        #expect(try await SQLiteProgram.run(share.new, "PRAGMA integrity_check") == "ok\n")
        #expect(try await SQLiteProgram.run(share.new, Self.migrated) == "Run|3\nRead|3\n")
    }

    @Test(
        "A killed share is resumed, rolled back or made again, and its copy is migrated",
        arguments: ["share", "resume", "abort"],
        [TriggerPoint.copying, .proving, .publishing, .placed, .published]
    )
    func killed(verb: String, moment: TriggerPoint) async throws {
        for treatment in ["fence", "capture"] {
            let share = try await Share()
            let words = share.words + ["--old", treatment]
            try Tool.kill(words, in: share.versions.scratch.path, at: moment)
            let next = try await Tool.run(verb == "share" ? words : [verb, share.old])
            let isPublished = [.placed, .published].contains(moment)
            #expect(next.status == (verb == "abort" && isPublished ? 4 : 0), "\(next.output)\(next.errors)")
            let again = try await Tool.run(words)
            #expect(again.status == 0, "\(again.output)\(again.errors)")
            if isPublished || verb == "share" { #expect(again.output.hasPrefix("Already shared")) }
            #expect(try await SQLiteProgram.run(share.new, Self.migrated) == "Run|3\nRead|3\n")
            #expect(try await Tool.run(["verify", share.new, "--level", "content"]).status == 0)
            #expect(try await Tool.run(["retire", share.old]).status == 0)
        }
    }
}
