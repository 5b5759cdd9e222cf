import ChangeMerging
import SafeFiles
import StoreFormat
import Testing

@Suite("Refusing to merge stores that are none of Core Data's")
struct PlainRefusalTests {
    @Test("A search index without texts is refused where the old side wrote to it, and told where it only lags behind")
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
        #expect(try written.plan().summary.refusals == [.modelsDiffer(entity: "f", property: nil)])
    }

    @Test("A text that is not valid stops the merge before it is written as another")
    func invalidTexts() throws {
        let triple = try PlainTriple("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
        try triple.execute("INSERT INTO t VALUES (1, CAST(x'61ff' AS TEXT))", in: "old")
        let error = #expect(throws: StoreError.self) { try triple.plan() }
        #expect(error?.code == .incompatible)
        #expect(try triple.rows("SELECT * FROM t").isEmpty)
    }

    @Test("A table with no number left for another row is told")
    func noNumberLeft() throws {
        let triple = try PlainTriple("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
        try triple.execute("INSERT INTO t VALUES (\(Int64.max), 'old')", in: "old")
        try triple.execute("INSERT INTO t VALUES (\(Int64.max), 'shared')", in: "shared")
        let error = #expect(throws: StoreError.self) { try triple.plan() }
        #expect(error?.code == .incompatible)
    }

    @Test("A store of Core Data's and one of another kind are not merged")
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
}
