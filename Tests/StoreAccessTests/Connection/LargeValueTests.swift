import StoreAccess
import TestSupport
import Testing

@Suite("Large values by reference")
struct LargeValueTests {
    private static let schema = """
        CREATE TABLE t (id INTEGER PRIMARY KEY, v);
        INSERT INTO t VALUES (1, 'a'), (2, zeroblob(300000)), (3, CAST(hex(zeroblob(200000)) AS TEXT)), (4, NULL);
        CREATE TABLE u (id INTEGER PRIMARY KEY, v);
        INSERT INTO u SELECT * FROM t;
        CREATE TABLE w (id INTEGER PRIMARY KEY, v) WITHOUT ROWID;
        INSERT INTO w SELECT * FROM t;
        """

    /// The values of a table in the order of its keys; `body` is called with each.
    private static func values(
        of table: String,
        in connection: StoreConnection,
        _ body: (SQLValue) throws -> Void = { _ in }
    ) throws -> [SQLValue] {
        try connection.referencing(table) { byReference in
            let column = byReference ? connection.reference(to: "v", of: table, rowID: "id") : "v"
            var values: [SQLValue] = []
            try connection.forEachRow("SELECT id, \(column) FROM \(table) ORDER BY id") { row in
                let place = LargeValue.Place.cell(table: table, column: "v", key: ["id"], [row.value(0)])
                values.append(connection.value(of: row, 1, at: place))
            }
            for value in values { try body(value) }
            return values
        }
    }

    private static func bytes(_ value: SQLValue, _ connection: StoreConnection) throws -> [UInt8]? {
        guard case .large(let large) = value else { return nil }
        var bytes: [UInt8] = []
        try large.forEachPiece(from: [connection]) { bytes += $0 }
        return bytes
    }

    @Test("Only values over the limit are references, and equal values of two tables are equal references")
    func references() throws {
        let scratch = try ScratchFolder()
        let connection = try StoreConnection(scratch.makeStore(Self.schema), access: .immutable)
        var nested: [SQLValue] = []
        // The second table is read while a statement on the first one is active.
        let values = try Self.values(of: "t", in: connection) { _ in
            nested = try Self.values(of: "u", in: connection)
        }
        #expect(values == nested)
        #expect(try values.map { try Self.bytes($0, connection)?.count } == [nil, 300_000, 400_000, nil])
        #expect(try Self.bytes(values[2], connection) == [UInt8](repeating: 0x30, count: 400_000))
        #expect([values[0], values[3]] == [.text("a"), .null])
    }

    @Test("References to values of a table without row numbers equal those of another table")
    func withoutRowID() throws {
        let scratch = try ScratchFolder()
        let connection = try StoreConnection(scratch.makeStore(Self.schema), access: .immutable)
        let values = try Self.values(of: "w", in: connection)
        #expect(try values == Self.values(of: "t", in: connection))
        #expect(try values.map { try Self.bytes($0, connection)?.count } == [nil, 300_000, 400_000, nil])
    }

    @Test("Texts and blobs of a store in UTF-16 are read whole")
    func whole() throws {
        let scratch = try ScratchFolder()
        let connection = try StoreConnection(
            scratch.makeStore("PRAGMA encoding = 'UTF-16le';" + Self.schema),
            access: .immutable
        )
        let values = try Self.values(of: "t", in: connection)
        #expect(values.map { $0.text?.utf8.count ?? $0.blob?.count } == [1, 300_000, 400_000, nil])
    }

    @Test("A reference whose cell was changed cannot be read")
    func changed() throws {
        let scratch = try ScratchFolder()
        try scratch.makeStore(Self.schema)
        let connection = try scratch.open()
        let value = try Self.values(of: "t", in: connection)[1]
        try connection.execute("UPDATE t SET v = CAST(x'01' || zeroblob(299999) AS BLOB) WHERE id = 2")
        let error = #expect(throws: StoreError.self) { try Self.bytes(value, connection) }
        #expect(error?.code == .changedMeanwhile)
    }
}
