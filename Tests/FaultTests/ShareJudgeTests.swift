import FaultSupport
import SafeFiles
import Testing

@Suite("The judge of a share")
struct ShareJudgeTests {
    struct Wrong: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let objection: String
        let spoil: @Sendable (Scratch) throws -> Void

        private static func row(
            _ testDescription: String,
            _ objection: String,
            _ spoil: @escaping @Sendable (Scratch) throws -> Void
        ) -> Wrong {
            Wrong(testDescription: testDescription, objection: objection, spoil: spoil)
        }

        private static func run(_ sql: String, at path: String) -> @Sendable (Scratch) throws -> Void {
            { try PlainStore("\($0.path)/\(path)").execute(sql) }
        }

        private static let blob = ".Habits_SUPPORT/_EXTERNAL_DATA"

        static let all = [
            row("a value of new changed", "new store differs", run("UPDATE habit SET weight = 3", at: newStore)),
            row("a row of new is gone", "new store differs", run("DELETE FROM entry WHERE note = 300", at: newStore)),
            row("a type of new changed", "new store differs", run("UPDATE habit SET weight = '2'", at: newStore)),
            row("new has a table more", "new store differs", run("CREATE TABLE extra (a)", at: newStore)),
            row("new is fenced", "new store differs", run(fence("habit"), at: newStore)),
            row("new has another version", "new store differs", run("PRAGMA user_version = 8", at: newStore)),
            row("an index of old is gone", "old store differs", run("DROP INDEX entry_day", at: oldStore)),
            row(
                "a table of old is open to writers",
                "takes writes",
                run("DROP TRIGGER \(fenceName)habit", at: oldStore)
            ),
            row("new is gone", "nothing is at the new place") { try $0.root.openDirectory("group").removeFile(name) },
            row("a blob of new is gone", "external file") { scratch in
                try folder(scratch, "group/" + blob).removeFile("BLOB")
            },
            row("a blob of old changed", "external file") { scratch in
                try folder(scratch, "old/" + blob).replace("BLOB", with: [4], mode: 0o600)
            },
            row("the receipt is missing", "missing: group/.\(name).store-migrate.json") { scratch in
                try folder(scratch, "group").removeFile(".\(name).store-migrate.json")
            },
            row("half a receipt is there", "half a receipt") { scratch in
                try folder(scratch, "group").replace(".\(name).store-migrate.json", with: [0x7B], mode: 0o600)
            },
            row("a staging was left", "left behind: group/.store-migrate-1/") { scratch in
                _ = try folder(scratch, "group").createDirectory(".store-migrate-1", mode: 0o700)
            },
            row("a temporary file was left", "left behind: tmp/copy") { scratch in
                try folder(scratch, "tmp").replace("copy", with: [], mode: 0o600)
            },
        ]
    }

    private static let name = "Habits.sqlite"
    private static let newStore = "group/Habits.sqlite"
    private static let oldStore = "old/Habits.sqlite"
    private static let fenceName = "_store_migrate_fence_0_"

    private static func fence(_ table: String) -> String {
        "CREATE TRIGGER \(fenceName)\(table) BEFORE DELETE ON \(table) BEGIN SELECT RAISE(ABORT, 'store moved'); END;"
    }

    private static func folder(_ scratch: Scratch, _ path: String) throws -> Directory {
        try Directory.open(path: scratch.path + "/" + path)
    }

    /// Shares the store by hand, correctly.
    private func share(_ template: StoreTemplate) throws -> (ShareJudge, Scratch) {
        let judge = ShareJudge(template: template)
        let scratch = try Scratch()
        try judge.prepare(scratch)
        let old = try PlainStore("\(scratch.path)/\(Self.oldStore)")
        try old.execute("VACUUM INTO '\(scratch.path)/\(Self.newStore)'")
        for table in template.fencedTables { try old.execute(Self.fence(table)) }
        _ = try Self.folder(scratch, "old").createDirectory(".store-migrate", mode: 0o700)
        let group = try Self.folder(scratch, "group")
        try group.replace(".\(Self.name).store-migrate.json", with: Array("{}".utf8), mode: 0o600)
        let data = try group.createDirectory(".Habits_SUPPORT", mode: 0o700)
            .createDirectory("_EXTERNAL_DATA", mode: 0o700)
        try data.replace("BLOB", with: [1, 2, 3], mode: 0o600)
        return (judge, scratch)
    }

    private func template(_ journalMode: String) throws -> StoreTemplate {
        let blob = [".Habits_SUPPORT/_EXTERNAL_DATA/BLOB": [1, 2, 3] as [UInt8]]
        return try HabitTemplate.make(journalMode: journalMode, externalFiles: blob)
    }

    @Test("The judge has no objection to a correct share", arguments: ["wal", "delete"])
    func right(_ journalMode: String) throws {
        let (judge, scratch) = try share(template(journalMode))
        #expect(try judge.afterRerun(scratch, .exited(0)) == [])
        #expect(try judge.afterFault(scratch, .inputOutputError, .exited(0)) == [])
    }

    @Test("The judge objects to every fault of a share", arguments: Wrong.all)
    func wrong(_ row: Wrong) throws {
        let (judge, scratch) = try share(template("wal"))
        try row.spoil(scratch)
        let objections = try judge.afterRerun(scratch, .exited(0))
        #expect(objections.contains { $0.contains(row.objection) }, "\(objections)")
    }

    @Test(
        "The judge accepts documented endings only",
        arguments: [
            (.exited(0), .noSpace, true), (.exited(1), .noSpace, true), (.exited(14), .noSpace, true),
            (.exited(2), .noSpace, false), (.exited(10), .noSpace, false), (.exited(134), .noSpace, false),
            (.killed(signal: 9), .killBefore, true), (.killed(signal: 9), .noSpace, false),
            (.killed(signal: 11), .killAfter, false), (.hung, .interrupted, false),
        ] as [(Command.Ending, Fault, Bool)]
    )
    func endings(_ ending: Command.Ending, _ fault: Fault, isClean: Bool) throws {
        let (judge, scratch) = try share(template("delete"))
        #expect(try judge.afterFault(scratch, fault, ending).isEmpty == isClean)
        #expect(try judge.afterRerun(scratch, ending).isEmpty == (ending == .exited(0)))
    }

    @Test("The judge objects to a fence without a share")
    func fencedTooEarly() throws {
        let (judge, scratch) = try share(template("wal"))
        try Self.folder(scratch, "group").removeFile(Self.name)
        let objections = try judge.afterFault(scratch, .killBefore, .killed(signal: 9))
        #expect(objections.contains { $0.contains("refuses writes to habit") }, "\(objections)")
    }

    @Test("The judge objects to a replaced store with another inode")
    func anotherFile() throws {
        let scratch = try Scratch()
        let judge = try ShareJudge(template: template("wal"), displaced: HabitTemplate.makeOther(journalMode: "wal"))
        try judge.prepare(scratch)
        let group = try Self.folder(scratch, "group")
        let bytes = try group.contents(of: Self.name, limit: 1 << 20)
        #expect(try judge.afterFault(scratch, .killBefore, .killed(signal: 9)) == [])
        try group.replace(Self.name, with: bytes, mode: 0o600)
        #expect(
            try judge.afterFault(scratch, .killBefore, .killed(signal: 9)).contains { $0.contains("another inode") }
        )
    }

    @Test("The judge objects to a share that ignored its strategies")
    func undescribed() throws {
        let (judge, scratch) = try share(template("wal"))
        try PlainStore("\(scratch.path)/\(Self.newStore)").execute("PRAGMA journal_mode = wal")
        var described = judge
        described.described = DescribedShare()
        let objections = try described.afterRerun(scratch, .exited(0))
        for objection in ["rollback journal", "mode is another", "ATRANSACTION is missing", "descriptions.json"] {
            #expect(objections.contains { $0.contains(objection) }, "\(objection): \(objections)")
        }
    }
}
