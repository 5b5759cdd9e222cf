import StoreAccess
import TestSupport
import Testing

@Suite("Values are ordered as SQLite orders them")
struct SQLValueOrderTests {
    private static let literals = [
        "NULL", "0", "1", "1.5", "3", "-1", "-1.5", "0.5", "-0.5", "9007199254740993", "9007199254740992.0",
        "9223372036854775807", "9223372036854775808.0", "-9223372036854775808", "-9223372036854775809.0", "9e999",
        "-9e999", "''", "'a'", "'ab'", "CAST(x'FE' AS TEXT)", "x''", "x'00'", "x'61'",
    ]

    @Test(
        "Every pair of storage classes has SQLite's order, in memory and between rows",
        arguments: ["UTF-8", "UTF-16le"]
    )
    func pairs(_ encoding: String) throws {
        let folder = try ScratchFolder()
        let rows = Self.literals.map { "(\($0))" }.joined(separator: ", ")
        try folder.makeStore("PRAGMA encoding = '\(encoding)'; CREATE TABLE t (v); INSERT INTO t VALUES \(rows)")
        let connection = try folder.open()
        // For SQLite's operators null is not less than null, but in its order null comes first.
        let sql = """
            SELECT a.v, b.v, CASE WHEN a.v IS b.v THEN 0 WHEN a.v IS NULL OR a.v < b.v THEN -1 ELSE 1 END
            FROM t AS a, t AS b
            """
        var count = 0
        try connection.forEachRow(sql) { row in
            let (first, second) = (row.value(0), row.value(1))
            #expect(first.compared(to: second).signum() == row.integer(2), "\(first) \(second)")
            #expect(row.order(0, against: row, 1).signum() == row.integer(2), "\(first) \(second)")
            count += 1
        }
        #expect(count == Self.literals.count * Self.literals.count)
        try connection.close()
    }
}
