import FoundationEssentials
import SafeFiles
import StoreAccess
import StoreMigration
import TestSupport
import Testing

@Suite("Verb migrate under bad conditions")
struct MigrateTrapsTests {
    /// A bad store or model; the shell commands run in the folder of the store.
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let setup: String
        let status: Int32
        var store = "Habits.sqlite"
        var model = "bad"
        var options: [String] = []
    }

    private static let twice = "<model>" + ModelVersions.habit() + ModelVersions.habit() + "</model>"

    static let cases = [
        Case(testDescription: "no model", setup: "true", status: 2),
        Case(testDescription: "an empty model", setup: ": > bad.mom", status: 2, model: "bad.mom"),
        Case(
            testDescription: "a truncated model",
            setup: "printf 'bplist00\\xd4' > bad.mom",
            status: 2,
            model: "bad.mom"
        ),
        Case(
            testDescription: "an archive that contains itself",
            setup: """
                printf 'bplist00\\xd1\\x01\\x02T$top\\xd1\\x01\\x02\\x08\\x0b\\x10\\0\\0\\0\\0\\0\\0\\x01\\x01\\0\\0\\0\\0\\0\\0\\0\\x03\
                \\0\\0\\0\\0\\0\\0\\0\\x02\\0\\0\\0\\0\\0\\0\\0\\x13' > bad.mom
                """,
            status: 2,
            model: "bad.mom"
        ),
        Case(testDescription: "a text file as model", setup: "seq 100 > bad.mom", status: 2, model: "bad.mom"),
        Case(
            testDescription: "two entities with one name",
            setup: "mkdir bad.xcdatamodel; echo '\(twice)' > bad.xcdatamodel/contents",
            status: 2,
            model: "bad.xcdatamodel"
        ),
        Case(
            testDescription: "an unknown version",
            setup: "mkdir bad.xcdatamodeld; cp -r Second.xcdatamodel bad.xcdatamodeld/",
            status: 2,
            model: "bad.xcdatamodeld",
            options: ["--version", "Third"]
        ),
        Case(
            testDescription: "a keyed archive with a reference to an object that it lacks",
            setup: """
                echo YnBsaXN0MDDUAQIDBAUGExZZJGFyY2hpdmVyWCRvYmplY3RzVCR0b3BYJHZlcnNpb25fEA9OU0tleWVkQXJjaGl2ZXKjBwgN\
                VSRudWxs0gkKCwxWJGNsYXNzWk5TRW50aXRpZXOAAoPuaygA0g4PEBFYJGNsYXNzZXNaJGNsYXNzbmFtZaIREl8QFE5TTWFuYWdl\
                ZE9iamVjdE1vZGVsWE5TT2JqZWN00RQVVHJvb3SAARIAAYagCBEbJCkyREhOU1plZ2xxeoWIn6irsLIAAAAAAAABAQAAAAAAAAAX\
                AAAAAAAAAAAAAAAAAAAAtw== | base64 -d > bad.mom
                """,
            status: 2,
            model: "bad.mom"
        ),
        Case(
            testDescription: "an array of more elements than memory",
            setup: "echo YnBsaXN0MDCvExAAAAAAAAAACAAAAAAAAAEBAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAS | base64 -d > bad.mom",
            status: 2,
            model: "bad.mom"
        ),
        Case(
            testDescription: "a current version outside the folder of versions",
            setup: """
                mkdir bad.xcdatamodeld; cp -r Second.xcdatamodel bad.xcdatamodeld/
                echo '<plist><dict><key>_XCCurrentVersionName</key><string>../Second.xcdatamodel</string></dict></plist>' \
                > bad.xcdatamodeld/.xccurrentversion
                """,
            status: 2,
            model: "bad.xcdatamodeld"
        ),
        Case(
            testDescription: "a version that is a link to the folder of versions",
            setup: "mkdir bad.momd; ln -s . bad.momd/bad.mom",
            status: 2,
            model: "bad.momd"
        ),
        Case(
            testDescription: "a FIFO as model",
            setup: "mkfifo bad.mom",
            status: 12,
            model: "bad.mom"
        ),
        Case(testDescription: "no store", setup: "true", status: 10, store: "None.sqlite", model: "Second.xcdatamodel"),
        Case(testDescription: "an empty file", setup: ": > E", status: 10, store: "E", model: "Second.xcdatamodel"),
        Case(
            testDescription: "a log without its store",
            setup: "echo x > E-wal",
            status: 12,
            store: "E",
            model: "Second.xcdatamodel"
        ),
        Case(
            testDescription: "a plain store",
            setup: "sqlite3 P 'CREATE TABLE t(a)'",
            status: 13,
            store: "P",
            model: "Second.xcdatamodel"
        ),
        Case(testDescription: "a text file", setup: "seq 900 > T", status: 12, store: "T", model: "Second.xcdatamodel"),
        Case(
            testDescription: "a link",
            setup: "ln -s Habits.sqlite L",
            status: 12,
            store: "L",
            model: "Second.xcdatamodel"
        ),
        Case(
            testDescription: "a damaged model cache",
            setup: "sqlite3 Habits.sqlite \"UPDATE Z_MODELCACHE SET Z_CONTENT = x'00ff'\"",
            status: 13,
            model: "Second.xcdatamodel"
        ),
    ]

    @Test("A bad store or model gives one line, and nothing is changed", arguments: cases)
    func bad(_ row: Case) async throws {
        let versions = try await ModelVersions(leaves: "nothing")
        _ = try versions.second()
        let folder = versions.scratch.path
        let setup = try await Tool.run(command: ["bash", "-c", row.setup], folder: folder)
        try #require(setup.status == 0, "\(setup.errors)")
        let before = try versions.scratch.fingerprint(withFolderTimes: false)
        for form in [["-n"], []] {
            let run = try await Tool.run(
                ["migrate", row.store, "--model", row.model] + row.options + form,
                folder: folder
            )
            #expect(run.status == row.status, "\(form) \(run.output)\(run.errors)")
            #expect(run.errorLines.count == 1 && run.output.isEmpty, "\(run.errors)")
            #expect(try versions.scratch.fingerprint(withFolderTimes: false) == before)
        }
    }

    @Test("-n ends as the run would for a captured old store, names in use, and a missing external file")
    func forecasts() async throws {
        for form in ["captured", "names", "file", "columns"] {
            let versions = try await ModelVersions(leaves: "nothing", in: "old")
            var (model, status) = (try versions.second(), Int32(13))
            switch form {
            case "captured":
                let new = try versions.scratch.folder("new") + "/Habits.sqlite"
                let share = ["share", versions.store, new, "--old", "capture", "--level", "content"]
                #expect(try await Tool.run(share).status == 0)
                status = 4
            case "names":
                try await SQLiteProgram.run(versions.store, "CREATE TABLE _store_migrate_new_ZHABIT(a)")
            case "columns":
                let many = (0..<2000)
                    .map { #"<attribute name="a\#($0)" optional="YES" attributeType="Integer 16"/>"# }
                model = try versions.document("Wide", ModelVersions.habit(many.joined()))
            default:
                let inline = ModelVersions.habit().replacing(#" allowsExternalBinaryDataStorage="YES""#, with: "")
                model = try versions.document("Inline", inline)
                let files = versions.scratch.path("old/.Habits_SUPPORT/_EXTERNAL_DATA")
                for name in try versions.scratch.names(files) {
                    try FileManager.default.removeItem(atPath: files + "/" + name)
                }
            }
            let words = ["migrate", versions.store, "--model", model]
            let before = try versions.scratch.fingerprint()
            let shown = try await Tool.run(words + ["-n"])
            // A refusal by the models or the rows is a finding.
            #expect(shown.status == (status == 13 ? 3 : status), "\(form): \(shown.output)\(shown.errors)")
            let run = try await Tool.run(words)
            #expect(run.status == status && run.errorLines.count == 1, "\(form): \(run.output)\(run.errors)")
            #expect(try versions.scratch.fingerprint() == before, "\(form)")
        }
    }

    @Test("A process that has the store open is named, and the migration is done")
    func open() async throws {
        let versions = try await ModelVersions()
        let reader = try StoreWriterProcess(versions.store)
        let run = try await Tool.run(["migrate", versions.store, "--model", try versions.second(), "--json"])
        #expect(run.status == 0, "\(run.errors)")
        let found = try Grammar().check(run).filter { $0["code"]?.string == "storeOpen" }
        #expect(found.first?["message"]?.string?.contains("store-writer") == true)
        withExtendedLifetime(reader) {}
    }

    @Test("A store that stays locked ends with status 11, and nothing is changed")
    func locked() async throws {
        let versions = try await ModelVersions(journalMode: "rollback")
        let model = try versions.second()
        let holder = try StoreWriterProcess(versions.store)
        #expect(try holder.execute("BEGIN EXCLUSIVE") == "ok")
        let run = try await Tool.run(["migrate", versions.store, "--model", model, "--lock-timeout", "100ms"])
        #expect(run.status == 11 && run.errorLines.count == 1, "\(run.output)\(run.errors)")
        #expect(try holder.execute("ROLLBACK") == "ok")
        #expect(try versions.scratch.names(versions.scratch.path).filter { $0.hasPrefix(".store-migrate") }.isEmpty)
        #expect(try await Tool.run(["migrate", versions.store, "--model", model]).status == 0)
    }

    @Test("A store in a read-only folder ends with status 12, and nothing is changed")
    func readOnly() async throws {
        let versions = try await ModelVersions(in: "closed")
        let model = try versions.second()
        let nobody = try Nobody(versions.scratch)
        try await Self.chmod("a+rX", versions.scratch.path)
        try await Self.chmod("a-w", versions.scratch.path("closed"))
        let before = try versions.scratch.fingerprint(versions.scratch.path("closed"))
        for form in [["-n"], []] {
            let run = try await nobody.run(
                ["migrate", versions.store, "--model", model] + form,
                temporary: try nobody.folder("t")
            )
            #expect(run.status == 12 && run.errorLines.count == 1, "\(run.output)\(run.errors)")
            // There is no old store that could be captured instead.
            #expect(!run.errors.contains("capture"), "\(run.errors)")
        }
        #expect(try versions.scratch.fingerprint(versions.scratch.path("closed")) == before)
        try await Self.chmod("u+w", versions.scratch.path("closed"))
    }

    @Test("A store that its owner may only read ends with status 12, names the remedy, and nothing is changed")
    func readOnlyStore() async throws {
        let versions = try await ModelVersions(leaves: "nothing", in: "theirs")
        let (model, theirs) = (try versions.second(), versions.scratch.path("theirs"))
        let nobody = try Nobody(versions.scratch)
        _ = try nobody.folder("theirs")
        try await Self.chmod("a+rX", versions.scratch.path)
        if ProcessIdentity.effectiveUser == 0 {
            #expect(try await Tool.run(command: ["chown", "-R", "65534:65534", theirs]).status == 0)
        }
        #expect(try await Tool.run(command: ["chmod", "444", versions.store]).status == 0)
        let before = try versions.scratch.fingerprint(theirs)
        for form in [["-n"], []] {
            let run = try await nobody.run(
                ["migrate", versions.store, "--model", model] + form,
                temporary: try nobody.folder("t")
            )
            #expect(run.status == 12 && run.errorLines.count == 1 && run.output.isEmpty, "\(run.output)\(run.errors)")
            #expect(run.errors.contains("cannot write to the store: this user may only read it"), "\(run.errors)")
            #expect(run.errors.contains("Run as its owner, or give this user write access"), "\(run.errors)")
        }
        #expect(try versions.scratch.fingerprint(theirs) == before)
    }

    @Test(
        "A model that only root may read: its reader ends with status 12, root's migration succeeds, a share says as whom",
        .enabled(if: ProcessIdentity.effectiveUser == 0)
    )
    func closedModel() async throws {
        let versions = try await ModelVersions(in: "theirs")
        let nobody = try Nobody(versions.scratch)
        let (theirs, new) = (try nobody.folder("theirs"), try nobody.folder("new"))
        #expect(try await Tool.run(command: ["chown", "-R", "65534:65534", theirs]).status == 0)
        try versions.scratch.folder("secret")
        _ = try versions.second()
        let model = versions.scratch.path("secret/Second.xcdatamodel")
        try FileManager.default.moveItem(atPath: versions.scratch.path("Second.xcdatamodel"), toPath: model)
        #expect(try await Tool.run(command: ["chmod", "700", versions.scratch.path("secret")]).status == 0)
        let temporary = try nobody.folder("t")
        let before = try versions.scratch.fingerprint(theirs)
        let migrate = ["migrate", versions.store, "--model", model]
        let share = ["share", versions.store, new, "--level", "content", "--migrate", "--model", model]
        for words in [migrate + ["-n"], migrate, share + ["-n"], share] {
            let run = try await nobody.run(words, temporary: temporary)
            #expect(run.status == 12 && run.errorLines.count == 1, "\(words): \(run.output)\(run.errors)")
            #expect(run.errors.contains("Permission denied"), "\(run.errors)")
        }
        let asRoot = try await Tool.runProcess(share, environment: ["TMPDIR": temporary])
        #expect(asRoot.status == 12 && asRoot.errorLines.count == 1, "\(asRoot.output)\(asRoot.errors)")
        #expect(asRoot.errors.contains("run as root, the command acts as the owner of the store"), "\(asRoot.errors)")
        #expect(try versions.scratch.fingerprint(theirs) == before)
        let run = try await Tool.runProcess(migrate, environment: ["TMPDIR": temporary])
        #expect(run.status == 0, "\(run.output)\(run.errors)")
    }

    private static func chmod(_ mode: String, _ path: String) async throws {
        #expect(try await Tool.run(command: ["chmod", "-R", mode, path]).status == 0)
    }

    @Test("A migration by root leaves files of the store's owner", .enabled(if: ProcessIdentity.effectiveUser == 0))
    func owner() async throws {
        let versions = try await ModelVersions(in: "theirs")
        let (model, theirs) = (try versions.second(), versions.scratch.path("theirs"))
        let nobody = try Nobody(versions.scratch)
        _ = try nobody.folder("theirs")
        #expect(try await Tool.run(command: ["chown", "-R", "65534:65534", theirs]).status == 0)
        let run = try await Tool.runProcess(
            ["migrate", versions.store, "--model", model],
            environment: ["TMPDIR": try nobody.folder("t")]
        )
        #expect(run.status == 0, "\(run.errors)")
        for name in try FileManager.default.subpathsOfDirectory(atPath: theirs) {
            let attributes = try FileManager.default.attributesOfItem(atPath: theirs + "/" + name)
            #expect(attributes[.ownerAccountID] as? Int == 65534, "\(name)")
        }
    }

    @Test(
        "A killed migration is resumed, rolled back or made again by the next command",
        arguments: ["migrate", "resume", "abort"],
        [TriggerPoint.copying, .proving, .publishing, .placed, .published]
    )
    func killed(verb: String, moment: TriggerPoint) async throws {
        let versions = try await ModelVersions()
        let model = try versions.second()
        let migrate = ["migrate", versions.store, "--model", model]
        try Tool.kill(migrate, in: versions.scratch.path, at: moment)
        let isPublished = [.placed, .published].contains(moment)
        let rows = "SELECT group_concat(ZNAME) FROM ZHABIT"
        #expect(try await SQLiteProgram.run(versions.store, rows) == "Run,Read\n")

        let next = try await Tool.run(verb == "migrate" ? migrate : [verb, versions.store])

        // The last trigger point passes when the journal is complete.
        #expect(next.status == (verb == "abort" && moment == .placed ? 4 : 0), "\(next.output)\(next.errors)")
        if verb == "abort", moment == .placed { #expect(next.errors.contains("resume")) }
        let again = try await Tool.run(migrate)
        #expect(again.status == 0, "\(again.errors)")
        if isPublished || verb == "migrate" { #expect(again.output.contains("already has this model version")) }
        #expect(
            try await SQLiteProgram.run(versions.store, "SELECT group_concat(ZNAME || ZGOAL) FROM ZHABIT")
                == "Run3,Read3\n"
        )
        #expect(try await Tool.run(["verify", versions.store]).status == 0)
        let left = try versions.scratch.names(versions.scratch.path).filter { $0.hasPrefix(".store-migrate") }
        #expect(left.count == 1 && left[0].hasPrefix(".store-migrate-aside-"), "\(left)")
    }

    @Test(
        "A store that was written to since a killed migration is finished or rolled back by its model version",
        arguments: [true, false],
        ["resume", "abort"]
    )
    func writtenSince(isMigrated: Bool, verb: String) async throws {
        let versions = try await ModelVersions()
        let migrate = ["migrate", versions.store, "--model", try versions.second()]
        try Tool.kill(migrate, in: versions.scratch.path, at: .placed)
        let folder = try Directory.open(path: versions.scratch.path(".store-migrate/Habits.sqlite"))
        let records = try MigrationJournal.records(in: folder)
        let replacing = try #require(
            records.firstIndex { record in if case .replacing = record { true } else { false } }
        )
        try folder.removeFile(MigrationJournal.name)
        var journal = try MigrationJournal(in: folder)
        for record in records[...replacing] { try journal.append(record) }
        if !isMigrated {
            // The state before the commit.
            let kept = try #require(versions.scratch.names(versions.scratch.path).first { $0.contains("-aside-") })
            let former = versions.scratch.path(kept) + "/Habits.sqlite"
            _ = try await SQLiteProgram.run(former, ".backup '\(versions.store)'")
        }
        _ = try await SQLiteProgram.run(versions.store, "UPDATE ZHABIT SET ZNAME = 'Swim' WHERE ZNAME = 'Run'")

        let run = try await Tool.run([verb, versions.store])

        #expect(run.status == (isMigrated && verb == "abort" ? 4 : 0), "\(run.output)\(run.errors)")
        #expect(run.output.contains("rolled back") == !isMigrated, "\(run.output)")
        #expect(
            try await SQLiteProgram.run(versions.store, "SELECT group_concat(ZNAME) FROM ZHABIT") == "Swim,Read\n"
        )
        #expect(try await Tool.run(migrate).status == 0)
        #expect(
            try await SQLiteProgram.run(versions.store, "SELECT group_concat(ZNAME || ZGOAL) FROM ZHABIT")
                == "Swim3,Read3\n"
        )
        #expect(try await Tool.run(["verify", versions.store]).status == 0)
    }

    @Test(
        "An empty journal folder that a killed run left is removed by the next run",
        arguments: [".store-migrate", ".store-migrate/Habits.sqlite"]
    )
    func emptyFolder(name: String) async throws {
        let versions = try await ModelVersions()
        let migrate = ["migrate", versions.store, "--model", try versions.second()]
        #expect(try await Tool.run(migrate).status == 0)
        try FileManager.default.createDirectory(
            atPath: versions.scratch.path(name),
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        #expect(try await Tool.run(migrate).status == 0)
        #expect(try !versions.scratch.names(versions.scratch.path).contains(".store-migrate"))
    }
}
