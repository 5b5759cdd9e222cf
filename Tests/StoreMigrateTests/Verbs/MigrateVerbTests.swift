import FoundationEssentials
import Testing

@Suite("Verb migrate")
struct MigrateVerbTests {
    private func lines(_ arguments: [String], status: Int32 = 0) async throws -> [JSONTree] {
        let run = try await Tool.run(arguments + ["--json"])
        #expect(run.status == status, "\(run.errors)")
        return try Grammar().check(run)
    }

    private func values(_ store: String) async throws -> String {
        try await SQLiteProgram.run(store, "SELECT ZNAME, ZGOAL, hex(ZPICTURE) FROM ZHABIT ORDER BY Z_PK")
    }

    @Test("migrate shows the mapping, carries it out once, and keeps every value", arguments: ["wal", "rollback"])
    func migrating(journalMode: String) async throws {
        let versions = try await ModelVersions(journalMode: journalMode)
        let (store, model) = (versions.store, try versions.second())
        let before = try await SQLiteProgram.run(
            store,
            "SELECT ZNAME, 3, hex(ZPICTURE) FROM ZHABIT ORDER BY Z_PK; PRAGMA wal_checkpoint"
        )
        let fingerprint = try versions.scratch.fingerprint()
        let shown = try await Tool.run(["migrate", store, "--model", model, "-n"])
        #expect(shown.status == 0)
        #expect(
            shown.output == """
                Inferred: Core Data would migrate Habits.sqlite to Second.xcdatamodel
                  attributeAdded  Habit.goal

                """
        )
        #expect(try versions.scratch.fingerprint() == fingerprint)

        let run = try await Tool.run(["migrate", store, "--model", model])

        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        #expect(run.lines[0].hasPrefix("Migrated Habits.sqlite to Second.xcdatamodel: 1 table changed in place in "))
        #expect(run.lines[1] == "  store  \(store)   proved: files, sqlite, coredata, content")
        #expect(run.lines[2].hasPrefix("  former \(versions.scratch.path)/.store-migrate-aside-"))
        #expect(try await before.hasPrefix(values(store)))
        #expect(try await Tool.run(["verify", store]).status == 0)
        let mode = try await SQLiteProgram.run(store, "PRAGMA journal_mode")
        #expect(mode == (journalMode == "wal" ? "wal\n" : "delete\n"))
        #expect(try !versions.scratch.names(versions.scratch.path).contains(".store-migrate"))

        let again = try await Tool.run(["migrate", store, "--model", model])
        #expect(again.status == 0 && again.output == "Migrated: the store already has this model version\n")
        let compatible = try await Tool.run(["migrate", store, "--model", model, "-n"])
        #expect(compatible.output == "Compatible: Habits.sqlite already has Second.xcdatamodel\n")
    }

    @Test("The records of migrate have the mapping, what was done, and the kept store")
    func records() async throws {
        let versions = try await ModelVersions()
        let model = try versions.document("Second", ModelVersions.habit().replacing("picture", with: "image"))
        let shown = try await lines(["migrate", versions.store, "--model", model, "-n"])
        let changes = shown.filter { $0["type"]?.string == "mappingChange" }
        #expect(changes.map { $0["change"]?.string } == ["attributeAdded", "attributeRemoved"])
        #expect(changes.map { $0["property"]?.string } == ["image", "picture"])
        #expect(shown.first { $0["type"]?.string == "migration" }?["verdict"]?.string == "inferred")

        let lost = shown.first { $0["code"]?.string == "notInNewVersion" }
        #expect(lost?["message"]?.string?.contains("lacks Habit.picture (1)") == true)

        let done = try await lines(["migrate", versions.store, "--model", model])

        #expect(done.contains { $0["code"]?.string == "notInNewVersion" })
        #expect(done.last?["outcome"]?.string == "migrated")
        let record = try #require(done.first { $0["type"]?.string == "migration" })
        #expect(record["copiedTables"]?.array?.map(\.string) == ["ZHABIT"])
        #expect(record["genuineHashes"] == .bool(false))
        // The picture has no attribute any more: its file is removed, and kept with the former store.
        let removed = try #require(record["removedFiles"]?.array?.first?.string)
        #expect(try versions.scratch.names(versions.scratch.path(".Habits_SUPPORT/_EXTERNAL_DATA")).isEmpty)
        let aside = try #require(record["keptAside"]?.string)
        #expect(try versions.scratch.names(aside + "/.Habits_SUPPORT/_EXTERNAL_DATA") == [removed])
        #expect(try await SQLiteProgram.run(aside + "/Habits.sqlite", "SELECT count(*) FROM ZHABIT") == "2\n")
    }

    @Test("A file that another store may use, or that is missing, is not listed as removed", arguments: [true, false])
    func keptFiles(isShared: Bool) async throws {
        let versions = try await ModelVersions(leaves: "nothing")
        let model = try versions.document("Second", ModelVersions.habit().replacing("picture", with: "image"))
        let files = versions.scratch.path(".Habits_SUPPORT/_EXTERNAL_DATA")
        let names = try versions.scratch.names(files)
        #expect(names.count == 1)
        if isShared {
            // The folder's name omits the extension.
            try versions.scratch.copy(versions.store, as: "Habits.db")
        } else {
            try FileManager.default.removeItem(atPath: files + "/" + names[0])
        }
        let done = try await lines(["migrate", versions.store, "--model", model])
        let record = try #require(done.first { $0["type"]?.string == "migration" })
        #expect(record["removedFiles"]?.array?.isEmpty == true)
        #expect(try versions.scratch.names(files) == (isShared ? names : []))
    }

    @Test("A store is a target, and gives its model cache byte for byte")
    func toStore() async throws {
        let versions = try await ModelVersions()
        let other = try await ModelVersions()
        #expect(try await Tool.run(["migrate", other.store, "--model", try other.second()]).status == 0)
        #expect(try await Tool.run(["migrate", versions.store, "--model", other.store]).status == 0)
        let cache = "SELECT hex(Z_CONTENT) FROM Z_MODELCACHE"
        #expect(try await SQLiteProgram.run(versions.store, cache) == SQLiteProgram.run(other.store, cache))
    }

    /// A version that is not inferable for the store.
    struct Refusal: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let entities: String
        let rule: String
        let code: Int64?
        var sql = "SELECT 1"
    }

    static let refusals = [
        Refusal(
            testDescription: "a mandatory attribute without a default",
            entities: ModelVersions.habit(#"<attribute name="goal" attributeType="Integer 64"/>"#),
            rule: "mandatoryAttribute",
            code: 134110
        ),
        Refusal(
            testDescription: "a constraint that rows violate",
            entities: ModelVersions.habit(
                """
                <uniquenessConstraints><uniquenessConstraint><constraint value="name"/></uniquenessConstraint>
                </uniquenessConstraints>
                """
            ),
            rule: "uniquenessConstraint",
            code: 134110,
            sql: "UPDATE ZHABIT SET ZNAME = 'twins'"
        ),
        Refusal(
            testDescription: "another type of an attribute",
            entities: ModelVersions.habit(name: #"<attribute name="name" attributeType="Date"/>"#),
            rule: "attributeType",
            code: 134190
        ),
        Refusal(
            testDescription: "a model of another family",
            entities: #"<entity name="Invoice"><attribute name="sum" optional="YES" attributeType="Double"/></entity>"#,
            rule: "unrelatedModels",
            code: 134140
        ),
        Refusal(
            testDescription: "a cycle of parents",
            entities: ModelVersions.habit()
                + #"<entity name="A" parentEntity="B"/><entity name="B" parentEntity="A"/>"#,
            rule: "invalidModel",
            code: 134020
        ),
    ]

    @Test(
        "A refusal names rule, error of Core Data and remedy; -n ends with 3, and nothing is changed",
        arguments: refusals
    )
    func refused(_ refusal: Refusal) async throws {
        let versions = try await ModelVersions(leaves: "nothing")
        try await SQLiteProgram.run(versions.store, refusal.sql)
        let model = try versions.document("Second", refusal.entities)
        let before = try versions.scratch.fingerprint()
        let shown = try await lines(["migrate", versions.store, "--model", model, "-n"], status: 3)
        let record = try #require(shown.first { $0["type"]?.string == "mappingRefusal" })
        #expect(record["rule"]?.string == refusal.rule)
        #expect(record["coreDataCode"]?.integer == refusal.code)
        #expect(shown.last?["outcome"]?.string == "findings")
        let text = try await Tool.run(["migrate", versions.store, "--model", model, "-n"])
        #expect(text.output.contains("To make it possible: ") && text.errors.isEmpty)

        let run = try await Tool.run(["migrate", versions.store, "--model", model])

        #expect(run.status == 13 && run.errorLines.count == 1 && run.output.isEmpty, "\(run.errors)")
        #expect(refusal.code.map { run.errors.contains("\($0)") } != false, "\(run.errors)")
        #expect(!run.errors.contains("twins"), "a message contains a value")
        #expect(try versions.scratch.fingerprint() == before)
    }

    @Test("A downgrade is refused: renaming identifiers show that the model is older")
    func downgrade() async throws {
        let versions = try await ModelVersions()
        let first = try versions.document("First", ModelVersions.habit())
        let renamed = #"<attribute name="title" attributeType="String" elementID="name"/>"#
        let second = try versions.document("Second", ModelVersions.habit(name: renamed))
        #expect(try await Tool.run(["migrate", versions.store, "--model", second]).status == 0)
        let before = try versions.scratch.fingerprint()
        let run = try await Tool.run(["migrate", versions.store, "--model", first])
        #expect(run.status == 13 && run.errors.contains("says that it was renamed"), "\(run.errors)")
        #expect(try versions.scratch.fingerprint() == before)
    }

    @Test(
        "An old store is refused and names the new one, where the new model arrives",
        arguments: ["fence", "capture"]
    )
    func oldStore(treatment: String) async throws {
        let versions = try await ModelVersions(in: "old")
        let (model, container) = (try versions.second(), try versions.scratch.folder("new"))
        let new = container + "/Habits.sqlite"
        let share = ["share", versions.store, new, "--level", "content", "--old", treatment]
        #expect(try await Tool.run(share).status == 0)
        let before = try versions.scratch.fingerprint(versions.scratch.path("old"))
        let refused = try await Tool.run(["migrate", versions.store, "--model", model])
        #expect(refused.status == 4 && refused.errors.contains(new), "\(refused.errors)")
        #expect(try versions.scratch.fingerprint(versions.scratch.path("old")) == before)

        #expect(try await Tool.run(["migrate", new, "--model", model]).status == 0)

        #expect(try await values(new).hasPrefix("Run|3|"))
        #expect(try await Tool.run(["verify", new]).status == 0)
        #expect(try await Tool.run(["status", versions.store, new]).status == 0)
        guard treatment == "fence" else { return }
        #expect(try await Tool.run(["retire", versions.store]).status == 0)
        let retired = try await Tool.run(["migrate", versions.store, "--model", model])
        #expect(retired.status == 4 && retired.errors.contains(new), "\(retired.errors)")
    }

    @Test(
        "After a migration of the new store, late writes of the former model are merged, and unshare brings the new content"
    )
    func pair() async throws {
        let versions = try await ModelVersions(in: "old")
        let (old, new) = (versions.store, try versions.scratch.folder("new") + "/Habits.sqlite")
        let share = ["share", old, new, "--level", "content", "--old", "capture"]
        #expect(try await Tool.run(share).status == 0)
        #expect(try await Tool.run(["migrate", new, "--model", try versions.second()]).status == 0)
        try await SQLiteProgram.run(old, "UPDATE ZHABIT SET ZNAME = 'Late', Z_OPT = Z_OPT + 1 WHERE Z_PK = 2")
        let merged = try await Tool.run(share)
        #expect(merged.status == 0 && merged.output.hasPrefix("Merged"), "\(merged.output)\(merged.errors)")
        #expect(try await values(new).contains("Late|3|"))

        let back = try await Tool.run(["unshare", old, new])

        #expect(back.status == 0, "\(back.errors)")
        #expect(try await values(old).hasPrefix("Run|3|"))
        #expect(try await Tool.run(["verify", old]).status == 0)
    }
}
