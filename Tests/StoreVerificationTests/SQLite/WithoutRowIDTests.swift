import StoreAccess
import Testing

@testable import StoreVerification

@Suite("NULL lines of SQLite's checks about WITHOUT ROWID tables")
struct WithoutRowIDTests {
    /// SQLite 3.40 reports NULL in a or b, because it reads the record at their declared places.
    private static let table = "CREATE TABLE t (a, b%, c, PRIMARY KEY (c, a)) WITHOUT ROWID;"

    private func findings(in store: ScratchStore) throws -> [Finding] {
        let connection = try StoreConnection(store.location, access: .immutable)
        return try StructureProof(connection, monitor: .silent).findings()
    }

    @Test("A sound table whose key is declared out of order passes", arguments: ["", " NOT NULL"])
    func sound(_ constraint: String) throws {
        let store = try ScratchStore(
            Self.table.replacing("%", with: constraint),
            // The index makes the table's own check necessary: a scan does not prove an index over an expression.
            "INSERT INTO t VALUES (1, 2, 3), (2, 2, 4); CREATE INDEX i ON t (b || 'x')"
        )
        #expect(try findings(in: store) == [])
    }

    @Test("A real NULL is found, also behind more wrong lines than one check reports")
    func real() throws {
        let store = try ScratchStore(
            Self.table.replacing("%", with: ""),
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
            INSERT INTO t SELECT i, i, i FROM n;
            CREATE TABLE u (v TEXT NOT NULL); INSERT INTO u VALUES ('a');
            """
        )
        #expect(try findings(in: store) == [])
        try store.redefineIndex("u", as: "CREATE TABLE u (v TEXT NOT NULL, w NOT NULL)")
        #expect(try findings(in: store).map(\.message) == ["SQLite reports: NULL value in u.w"])

        try store.execute("UPDATE t SET b = NULL WHERE a = 150")
        try store.redefineIndex("t", as: Self.table.replacing("%", with: " NOT NULL"))
        let found = try findings(in: store)
        #expect(found.allSatisfy { $0.code == .constraintBroken })
        #expect(found.contains { $0.message.contains("t.b") } && !found.contains { $0.message.contains("t.a") })
    }
}
