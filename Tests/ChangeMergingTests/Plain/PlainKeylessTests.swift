import ChangeMerging
import SafeFiles
import StoreAccess
import TestSupport
import Testing

@Suite("Merging plain tables without a key")
struct PlainKeylessTests {
    /// A change of the old side, and all rows of the table before and after it.
    struct Change: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let schema: String
        let sql: String
        let before: [String]
        let after: [String]
    }

    static let changes = [
        Change(
            testDescription: "a number of another storage class",
            schema: "CREATE TABLE t (v, w); INSERT INTO t VALUES (1, 'a'), (2, 'b')",
            sql: "UPDATE t SET v = 1.0 WHERE w = 'a'",
            before: ["1 a", "2 b"],
            after: ["1.0 a", "2 b"]
        ),
        Change(
            testDescription: "one of two equal rows",
            schema: "CREATE TABLE t (v, w); INSERT INTO t VALUES (NULL, 'a'), (NULL, 'a')",
            sql: "DELETE FROM t WHERE rowid = 1",
            before: ["- a", "- a"],
            after: ["- a"]
        ),
        Change(
            testDescription: "a column named like the row number",
            schema: "CREATE TABLE t (rowid, w); INSERT INTO t VALUES ('x', 'a'), (1, 'b')",
            sql: "DELETE FROM t WHERE w = 'a'",
            before: ["x a", "1 b"],
            after: ["1 b"]
        ),
        Change(
            testDescription: "two columns named like the row number",
            schema: "CREATE TABLE t (_rowid_, rowid); INSERT INTO t VALUES (2, 'a'), (1, 'b')",
            sql: "UPDATE t SET rowid = 'c' WHERE rowid = 'b'",
            before: ["2 a", "1 b"],
            after: ["2 a", "1 c"]
        ),
    ]

    @Test("A change of a row is merged, and rolled back", arguments: changes)
    func change(_ change: Change) throws {
        let triple = try PlainTriple(change.schema)
        try triple.execute(change.sql, in: "old")
        let file = try triple.folder.directory.createFile("record", mode: 0o600)

        try triple.merge { try ChangesetRecording($0, to: file) }
        #expect(try triple.rows("SELECT * FROM t ORDER BY 2") == change.after)
        #expect(triple.parked.isEmpty)

        let record = try triple.folder.directory.openFile("record", for: .reading)
        _ = try MergeUndo(reading: record)
            .undo(in: MergePlace(triple.connection("shared")), deadline: Deadline(after: .seconds(60)))
        #expect(try triple.rows("SELECT * FROM t ORDER BY 2") == change.before)
    }
}
