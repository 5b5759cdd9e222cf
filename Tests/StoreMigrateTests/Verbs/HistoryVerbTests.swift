import FoundationEssentials
import ManagedObjects
import SafeFiles
import StoreAccess
import StoreStrategies
import TestSupport
import Testing

@Suite("Verbs history and history prune")
struct HistoryVerbTests {
    private let scratch: Scratch
    private let path: String

    /// Builds a store with three saves by two authors, all of them only in the log.
    init() async throws {
        scratch = try Scratch()
        path = scratch.path("Notes.sqlite")
        let recipe = Tool.package + "/Fixtures/Stores/history-on/recipe.yaml"
        let built = try await Tool.run(["fixture", "build", recipe, path])
        try #require(built.status == 0, "\(built.errors)")
    }

    private func lines(_ arguments: [String], type: String) async throws -> [JSONTree] {
        let run = try await Tool.run(["history"] + arguments + ["--json"])
        #expect(run.status == 0, "\(run.errors)")
        return try Grammar().check(run).filter { $0["type"]?.string == type }
    }

    /// Registers consumers through the library.
    private func register(_ consumers: [String: Int64]) throws {
        let coordinator = PersistentStoreCoordinator()
        var description = PersistentStoreDescription(url: URL(filePath: path))
        description.isHistoryTrackingEnabled = true
        let store = try coordinator.addPersistentStore(with: description)
        defer { coordinator.remove(store) }
        // A consumer is registered at the end of the history.
        let pruner = HistoryPruner(coordinator)
        for (name, number) in consumers {
            try pruner.register(name, for: store)
            #expect(try pruner.consumers(of: store)[name] == number)
        }
    }

    private func numbers() async throws -> [Int64?] {
        try await lines([path], type: "transaction").map { $0["number"]?.integer }
    }

    @Test("history prints one transaction per line, then the totals of each author")
    func golden() async throws {
        let run = try await Tool.run(["history", path])
        #expect(run.status == 0, "\(run.errors)")
        #expect(
            run.output == """
                \(path): 3 transactions, 34 changes, 1 to 3
                number  time                  author  process  context     changes
                1       2026-03-01T09:00:00Z  app     Notes    -           Folder +2, Note +20
                2       2026-03-02T09:00:00Z  widget  Notes    background  Note ~1 -9, Folder ~1 -1
                3       2026-03-02T10:00:00Z  app     Notes    -
                  app     2 transactions  22 changes  1 to 3
                  widget  1 transaction   12 changes  2 to 2

                """
        )
    }

    @Test("--author, --after and --limit select transactions, and no file changes")
    func choosing() async throws {
        let before = try scratch.fingerprint()
        let widget = try await lines([path, "--author", "widget"], type: "transaction")
        #expect(widget.map { $0["number"]?.integer } == [2])
        #expect(widget.first?["context"]?.string == "background")
        let authors = try await lines([path, "--author", "widget"], type: "author")
        #expect(authors.map { $0["name"]?.string } == ["widget"])
        #expect(
            try await lines([path, "--after", "1", "--limit", "1"], type: "transaction").map { $0["number"]?.integer }
                == [2]
        )
        #expect(try await lines([path, "--author", "app", "--after", "3"], type: "transaction").isEmpty)
        let both = try await lines(["--author", "app", "--author", "widget", path], type: "transaction")
        #expect(both.count == 3)
        let shown = try Grammar().check(try await Tool.run(["inspect", path, "--show", "history", "--json"]))
        #expect(shown.compactMap { $0["type"]?.string } == ["history", "author", "author", "summary"])
        #expect(try scratch.fingerprint() == before)
    }

    @Test(
        "An unknown author, or an invalid number, ends with status 2 and one line",
        arguments: [
            (["--author", "absent"], "no transaction is by an author 'absent'"),
            (["--author", ""], "every transaction has an author"), (["--after=-1"], "from 0 on"),
            (["--after", "x"], "from 0 on"), (["--limit", "0"], "from 1 on"),
        ]
    )
    func wrong(_ arguments: [String], _ expected: String) async throws {
        let run = try await Tool.run(["history", path] + arguments)
        #expect(run.status == 2, "\(run.errors)")
        #expect(run.output.isEmpty)
        #expect(run.errorLines.count == 1)
        #expect(run.errors.contains(expected), "\(run.errors)")
    }

    @Test("history verbs report a store without history with status 0, and a plain SQLite store with 13")
    func without() async throws {
        let clean = scratch.path("clean.sqlite")
        _ = try await Tool.run(["fixture", "build", Tool.package + "/Fixtures/Stores/clean/recipe.yaml", clean])
        for verb in [["history"], ["history", "prune", "--keep", "7d"], ["inspect", "--show", "history"]] {
            let run = try await Tool.run(verb + [clean])
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output == "\(clean): keeps no history\n")
            let lines = try Grammar().check(try await Tool.run(verb + [clean, "--json"]))
            #expect(lines.first?["code"]?.string == "noHistory")
        }
        let plain = try await scratch.store("plain.sqlite")
        #expect(try await Tool.run(["history", plain]).status == 13)
        #expect(try await Tool.run(["history", "prune", plain, "--keep", "7d"]).status == 13)
        #expect(try await Tool.run(["history", scratch.path("none")]).status == 10)
    }

    @Test("history prune purges nothing without a registered consumer, and says why")
    func nobody() async throws {
        let before = try scratch.fingerprint()
        let run = try await Tool.run(["history", "prune", path, "--keep", "0d"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.hasPrefix("Nothing was purged: no consumer of the history is registered"))
        #expect(try scratch.fingerprint() == before)
    }

    @Test("history prune stops at the slowest consumer and at --keep; a dry run changes nothing")
    func pruning() async throws {
        try register(["sync": 3])
        let young = try await Tool.run(["history", "prune", path, "--keep", "36500d"])
        #expect(young.output == "Nothing was purged of the history that 1 consumer reads: \(path)\n")
        // A transaction after the registration, which the consumer has not read.
        try await SQLiteProgram.run(path, "UPDATE Z_PRIMARYKEY SET Z_MAX = 4 WHERE Z_NAME = 'TRANSACTION'")
        try await SQLiteProgram.run(
            path,
            "INSERT INTO ATRANSACTION(Z_PK, Z_ENT, ZTIMESTAMP) VALUES(4, 16002, 794138400)"
        )
        let before = try scratch.fingerprint()
        let dry = try await Tool.run(["history", "prune", path, "--keep", "0h", "--dry-run"])
        #expect(dry.output == "Would purge 3 transactions, 34 changes; 'sync' has not read further: \(path)\n")
        #expect(try scratch.fingerprint() == before)
        let run = try await Tool.run(["history", "prune", path, "--keep", "0h", "--json"])
        let pruning = try #require(try Grammar().check(run).first { $0["type"]?.string == "pruning" })
        #expect(pruning["transactions"]?.integer == 3)
        #expect(pruning["slowest"]?.string == "sync")
        #expect(pruning["dryRun"] == .bool(false))
        #expect(try await numbers() == [4])
        let consumers = try Grammar().check(try await Tool.run(["inspect", path, "--show", "history", "--json"]))
        #expect(consumers.first { $0["type"]?.string == "consumer" }?["transaction"]?.integer == 3)
        let verify = try await Tool.run(["verify", path])
        #expect(verify.status == 0, "\(verify.output)")
        // A reader that continues from a purged transaction gets a warning.
        let late = try await Tool.run(["history", path, "--after", "1"])
        #expect(late.errors.contains("transactions 2 to 3 are no longer kept"))
        // An author whose transactions are all purged is still known.
        #expect(try await Tool.run(["history", path, "--author", "widget"]).status == 0)
        #expect(try await lines([path, "--author", ""], type: "transaction").count == 1)
    }

    @Test(
        "history prune without a valid --keep ends with status 2",
        arguments: [[], ["--keep", "7"], ["--keep", "d"], ["--keep", "99999999999999999999w"], ["--keep", "7m"]]
    )
    func keep(_ arguments: [String]) async throws {
        let run = try await Tool.run(["history", "prune", path] + arguments)
        #expect(run.status == 2, "\(run.errors)")
        #expect(run.errorLines.count == 1)
    }

    @Test("history prune refuses a store that was shared, and names the new one")
    func fenced() async throws {
        try register(["sync": 3])
        let new = try scratch.folder("new")
        #expect(try await Tool.run(["share", path, new]).status == 0)
        let run = try await Tool.run(["history", "prune", path, "--keep", "0d"])
        #expect(run.status == 12, "\(run.errors)")
        #expect(run.errors.contains(new))
        let pruned = try await Tool.run(["history", "prune", new + "/Notes.sqlite", "--keep", "0d"])
        #expect(pruned.status == 0)
        #expect(pruned.output.hasPrefix("Purged 3 transactions"), "\(pruned.output)")
    }

    @Test("history prune ends with status 11 when a writer holds the lock past --lock-timeout")
    func busy() async throws {
        try register(["sync": 3])
        let writer = try StoreConnection(StoreLocation(url: URL(filePath: path)), access: .liveWriting)
        try writer.beginWriting(deadline: Deadline(after: .seconds(60)))
        let run = try await Tool.run(["history", "prune", path, "--keep", "0d", "--lock-timeout", "50ms"])
        #expect(run.status == 11, "\(run.errors)")
        writer.rollback()
        try writer.close()
        #expect(try await numbers().count == 3)
    }

    @Test("A user with read access only can show the history, and history prune ends with status 12")
    func unwritable() async throws {
        try register(["sync": 3])
        let nobody = try Nobody(scratch)
        for name in try scratch.names(scratch.path) where !name.hasPrefix(".") {
            try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: scratch.path(name))
        }
        let temporary = try nobody.folder("temporary")
        let before = try scratch.fingerprint(withFolderTimes: false)
        #expect(try await nobody.run(["history", path], temporary: temporary).status == 0)
        let run = try await nobody.run(["history", "prune", path, "--keep", "0d"], temporary: temporary)
        #expect(run.status == 12, "\(run.errors)")
        #expect(run.errorLines.count == 1, "\(run.errors)")
        #expect(run.errors.contains(path))
        #expect(try scratch.fingerprint(withFolderTimes: false) == before)
    }

    @Test("history prints every transaction of every genuine store", .genuineStores, arguments: Corpus.stores)
    func corpus(_ genuine: String) async throws {
        let store = Corpus.location(of: genuine)
        let scratch = try Scratch()
        let path = try scratch.copy(store.folder, as: "copy") + "/" + store.name
        let before = try scratch.fingerprint()
        let inspected = try Grammar().check(try await Tool.run(["inspect", path, "--json"]))
        let extent = inspected.first { $0["type"]?.string == "store" }?["history"]
        let run = try await Tool.run(["history", path, "--json"])
        #expect(run.status == 0, "\(run.errors)")
        let lines = try Grammar().check(run)
        let transactions = lines.filter { $0["type"]?.string == "transaction" }
        #expect(Int64(transactions.count) == extent?["transactions"]?.integer ?? 0)
        let changes = transactions.flatMap { $0["changes"]?.array ?? [] }
            .reduce(Int64(0)) { sum, change in
                ["inserted", "updated", "deleted"].reduce(sum) { $0 + (change[$1]?.integer ?? 0) }
            }
        #expect(changes == extent?["changes"]?.integer ?? 0)
        let authors = lines.filter { $0["type"]?.string == "author" }
        #expect(authors.reduce(0) { $0 + ($1["changes"]?.integer ?? 0) } == changes)
        #expect(try scratch.fingerprint() == before)
    }
}
