import ChangeMerging
import StoreAccess
import TestSupport
import Testing

/// SQLite compares texts by their bytes; Swift treats canonically equivalent ones as equal.
@Suite("A merge distinguishes canonically equivalent texts")
struct PlainTextTests {
    private static let composed = "\u{E9}"
    private static let decomposed = "e\u{301}"

    private static func bytes(_ sql: String, of triple: PlainTriple) throws -> [String] {
        try triple.rows("SELECT hex(name) FROM (\(sql)) ORDER BY 1")
    }

    @Test("Two rows with canonically equivalent keys are both merged", arguments: ["", " WITHOUT ROWID"])
    func keys(options: String) throws {
        let triple = try PlainTriple("CREATE TABLE t (name TEXT PRIMARY KEY, n INTEGER)\(options)")
        try triple.execute("INSERT INTO t VALUES ('\(Self.composed)', 1), ('\(Self.decomposed)', 2)", in: "old")

        try triple.merge()

        #expect(try Self.bytes("SELECT * FROM t", of: triple) == ["65CC81", "C3A9"])
        #expect(try triple.rows("SELECT n FROM t ORDER BY n") == ["1", "2"])
        #expect(triple.parked.isEmpty)
    }

    @Test("Deleting one of two rows with canonically equivalent keys keeps the other")
    func deletedKey() throws {
        let triple = try PlainTriple(
            "CREATE TABLE t (name TEXT PRIMARY KEY, n INTEGER);"
                + "INSERT INTO t VALUES ('\(Self.composed)', 1), ('\(Self.decomposed)', 2)"
        )
        try triple.execute("DELETE FROM t WHERE n = 1; UPDATE t SET n = 3 WHERE n = 2", in: "old")

        try triple.merge()

        #expect(try Self.bytes("SELECT * FROM t", of: triple) == ["65CC81"])
        #expect(try triple.rows("SELECT n FROM t") == ["3"])
    }

    @Test("A change of Unicode normalization alone is an edit, and a conflict if both sides made one")
    func edits() throws {
        let triple = try PlainTriple(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, other TEXT);"
                + "INSERT INTO t VALUES (1, '\(Self.composed)', '\(Self.composed)'), (2, NULL, NULL)"
        )
        try triple.execute("UPDATE t SET name = '\(Self.decomposed)', other = 'old' WHERE id = 1", in: "old")
        try triple.execute("UPDATE t SET other = '\(Self.decomposed)' WHERE id = 1", in: "shared")

        let (summary, _) = try triple.merge()

        #expect(try Self.bytes("SELECT name FROM t WHERE id = 1", of: triple) == ["65CC81"])
        #expect(try Self.bytes("SELECT other AS name FROM t WHERE id = 1", of: triple) == ["65CC81"])
        #expect(summary.conflicts.map(\.property) == ["other"])
        #expect(triple.parked.map(\.values["other"]) == [.text("old")])
    }

    @Test("Rows without a key that are canonically equivalent are counted separately")
    func withoutKey() throws {
        let triple = try PlainTriple("CREATE TABLE t (name TEXT)")
        try triple.execute("INSERT INTO t VALUES ('\(Self.composed)')", in: "old")
        try triple.execute("INSERT INTO t VALUES ('\(Self.decomposed)')", in: "shared")

        try triple.merge()

        #expect(try Self.bytes("SELECT * FROM t", of: triple) == ["65CC81", "C3A9"])
    }
}
