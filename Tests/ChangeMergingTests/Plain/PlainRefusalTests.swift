import ChangeMerging
import SafeFiles
import StoreAccess
import Synchronization
import Testing

@Suite("Refused merges of plain SQLite stores")
struct PlainRefusalTests {
    @Test("A search index without texts is refused if the old side wrote to it, else reported as outdated")
    func contentless() throws {
        let schema = """
            CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); CREATE VIRTUAL TABLE f USING fts5(v, content='');
            INSERT INTO t VALUES (1, 'a'); INSERT INTO f (rowid, v) VALUES (1, 'a');
            """
        let lagging = try PlainTriple(schema)
        try lagging.execute("INSERT INTO t VALUES (2, 'b')", in: "old")
        #expect(try lagging.merge().summary.notes.map(\.kind) == [.indexNotFollowed])
        #expect(try lagging.rows("SELECT * FROM t") == ["1 a", "2 b"])
        let written = try PlainTriple(schema)
        try written.execute("INSERT INTO t VALUES (2, 'b'); INSERT INTO f (rowid, v) VALUES (2, 'b')", in: "old")
        #expect(try written.plan().summary.refusals == [.notCarried("the content of the virtual table f")])
    }

    @Test("Without a base, a table with keys assigned by SQLite is refused unless an identity is named")
    func unidentified() throws {
        let triple = try PlainTriple("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, 'a')")
        try triple.execute("INSERT INTO t VALUES (2, 'b')", in: "old")

        let refused = try triple.plan(hasBase: false).summary.refusals
        #expect(refused == [.unidentified(table: "t")])
        #expect(refused.map(\.kind) == [.needsDecision] && refused.flatMap(\.unidentified) == ["t"])

        try triple.merge(MergeSettings(identities: ["t": ["v"]]), hasBase: false)
        #expect(try triple.rows("SELECT * FROM t") == ["1 a", "2 b"])
    }

    @Test("A row deleted between plan and execution fails the merge, and nothing is written")
    func lostRow() throws {
        let triple = try PlainTriple(
            "CREATE TABLE t (k TEXT PRIMARY KEY, v); INSERT INTO t VALUES ('a', 1), ('b', 2)"
        )
        try triple.execute("UPDATE t SET v = 3", in: "old")
        let plan = try triple.plan()
        try triple.execute("DELETE FROM t WHERE k = 'b'", in: "old")

        let error = #expect(throws: StoreError.self) {
            try plan.carryOut(MergeRun(epoch: "1", deadline: Deadline(after: .seconds(60))))
        }
        #expect(error?.code == .changedMeanwhile)
        #expect(try triple.rows("SELECT v FROM t") == ["1", "2"])
    }

    @Test("A conflict clause that skips or replaces rows has no effect in a merge", arguments: ["IGNORE", "REPLACE"])
    func conflictClauses(_ clause: String) throws {
        let triple = try PlainTriple(
            "CREATE TABLE t (k TEXT PRIMARY KEY, v INT, n INT NOT NULL ON CONFLICT \(clause) DEFAULT 7);"
                + "CREATE UNIQUE INDEX i ON t (v) WHERE v > 0; INSERT INTO t VALUES ('a', 1, 1)"
        )
        try triple.execute("INSERT INTO t VALUES ('b', 2, 1)", in: "old")
        try triple.execute("INSERT INTO t VALUES ('c', 2, 1)", in: "shared")
        try triple.merge()
        #expect(try triple.rows("SELECT k, v FROM t ORDER BY k") == ["a 1", "c 2"])
        #expect(triple.parked.map(\.key) == [[.text("b")]])
    }

    @Test("A cancelled merge ends between rows, and inside one long step of SQLite", arguments: [1, 400])
    func cancelled(_ patience: Int) throws {
        let triple = try PlainTriple(
            "CREATE TABLE t (k INTEGER PRIMARY KEY, v); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                + "WHERE i < 100000) INSERT INTO t SELECT i, i FROM n"
        )
        try triple.execute("UPDATE t SET v = v + 1", in: "old")
        let asked = Atomic(0)
        let monitor = WorkMonitor(isCancelled: { asked.wrappingAdd(1, ordering: .relaxed).newValue > patience })
        let merger = StoreMerger(
            base: MergePlace(try triple.connection("base")),
            old: MergePlace(try triple.connection("old")),
            shared: MergePlace(try triple.connection("shared")),
            monitor: monitor
        )
        let error = #expect(throws: StoreError.self) { try merger.plan() }
        #expect(error?.code == .cancelled)

        let connection = try triple.connection("shared")
        let long = "SELECT count(*) FROM t AS a, t AS b WHERE a.v + b.v = 0"
        let stopped = #expect(throws: StoreError.self) {
            try connection.stopping(by: WorkMonitor(isCancelled: { true })) { try connection.value(long) }
        }
        #expect(stopped?.code == .cancelled)
        #expect(try connection.value("SELECT 1") == .integer(1))
    }

    @Test("A merge of one row that is cancelled after its plan writes nothing")
    func cancelledAfterPlan() throws {
        let triple = try PlainTriple("CREATE TABLE t (k INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 'base')")
        try triple.execute("UPDATE t SET v = 'old'", in: "old")
        let isCancelled = Atomic(false)
        let plan = try StoreMerger(
            base: MergePlace(triple.connection("base")),
            old: MergePlace(triple.connection("old")),
            shared: MergePlace(triple.connection("shared")),
            monitor: WorkMonitor(isCancelled: { isCancelled.load(ordering: .relaxed) })
        )
        .plan()
        isCancelled.store(true, ordering: .relaxed)

        let error = #expect(throws: StoreError.self) {
            try plan.carryOut(MergeRun(epoch: "1", deadline: Deadline(after: .seconds(60))))
        }
        #expect(error?.code == .cancelled)
        #expect(try triple.rows("SELECT v FROM t") == ["base"])
    }

    @Test("A plan over a shared store that is read live uses its open transaction, and leaves it open")
    func openTransaction() throws {
        let triple = try PlainTriple("CREATE TABLE t (k INTEGER PRIMARY KEY, v)")
        try triple.execute("INSERT INTO t VALUES (1, 'late')", in: "old")
        let shared = try triple.connection("shared")
        try shared.beginReading()
        let plan = try triple.plan()
        #expect(!plan.summary.changesNothing && shared.isInTransaction)
        shared.rollback()
        #expect(!shared.isInTransaction)
    }

    @Test("A table without a free row number fails the merge by name")
    func noNumberLeft() throws {
        let triple = try PlainTriple("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
        try triple.execute("INSERT INTO t VALUES (\(Int64.max), 'old')", in: "old")
        try triple.execute("INSERT INTO t VALUES (\(Int64.max), 'shared')", in: "shared")
        let error = #expect(throws: StoreError.self) { try triple.plan() }
        #expect(error?.code == .incompatible)
    }

    @Test("Merging a Core Data store with a plain SQLite store is refused")
    func kinds() throws {
        let managed = try StoreMergeTests.triple()
        let plain = try PlainTriple("CREATE TABLE t (id INTEGER PRIMARY KEY)")
        let plan = try StoreMerger(
            base: nil,
            old: managed.store("old").place(),
            shared: MergePlace(plain.connection("shared"))
        )
        .plan()
        #expect(plan.summary.refusals == [.kindsDiffer])
    }

    @Test("The tables without an identity of two plain stores are named before a merge without a base")
    func unidentifiedTables() throws {
        let triple = try PlainTriple(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); CREATE TABLE k (code TEXT PRIMARY KEY);"
                + "CREATE TABLE blank (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1, 'a');"
                + "INSERT INTO k VALUES ('b')"
        )
        func unidentified(_ settings: MergeSettings) throws -> [String] {
            try MergeRefusal.unidentified(in: triple.connection("old"), and: triple.connection("shared"), settings)
        }
        #expect(try unidentified(MergeSettings()) == ["t"])
        #expect(try unidentified(MergeSettings(identities: ["t": ["v"]])).isEmpty)
    }

    @Test("Under the policy error, each row that both sides added with other values counts as a conflict")
    func addedOnBothSides() throws {
        let triple = try PlainTriple("CREATE TABLE k (code TEXT PRIMARY KEY, v, w)")
        for name in ["old", "shared"] {
            let rows = "('a', '\(name)', '\(name)'), ('b', '\(name)', 1), ('c', 1, 1)"
            try triple.execute("INSERT INTO k VALUES \(rows)", in: name)
        }

        #expect(try triple.plan(MergeSettings(policy: .error)).summary.refusals == [.conflicts(2)])
    }

    @Test(
        "Neither an edit of one side alone nor the same edit of both is a conflict",
        arguments: StoreMergePolicy.allCases
    )
    func agreement(_ policy: StoreMergePolicy) throws {
        let triple = try PlainTriple(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, v, w); INSERT INTO t VALUES (1, 0, 0), (2, 0, 0), (3, 0, 0)"
        )
        try triple.execute("UPDATE t SET v = 'new' WHERE id < 3", in: "old")
        try triple.execute(
            "UPDATE t SET v = 'new' WHERE id = 2; UPDATE t SET w = 'own' WHERE id = 3",
            in: "shared"
        )

        let (summary, _) = try triple.merge(MergeSettings(policy: policy))

        #expect(summary.refusals.isEmpty)
        #expect(summary.conflicts.isEmpty)
        #expect(summary.updated == 1)
        #expect(try triple.rows("SELECT * FROM t") == ["1 new 0", "2 new 0", "3 0 own"])
        #expect(triple.parked.isEmpty)
    }
}
