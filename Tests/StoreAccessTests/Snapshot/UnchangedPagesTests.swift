import SafeFiles
import StoreAccess
import TestSupport
import Testing

@Suite("Pages that are the same bytes in two stores")
struct UnchangedPagesTests {
    private static let rows = """
        CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT);
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
        INSERT INTO t SELECT i, hex(zeroblob(20 + (i % 500 = 0) * 9000)) FROM n;
        CREATE TABLE other (a); INSERT INTO other VALUES (1);
        """

    /// A change of the copy, and whether `t` has the same records afterwards.
    static let changes: [(sql: String, isSame: Bool)] = [
        ("SELECT 1", true),
        ("UPDATE other SET a = 2", true),
        ("ALTER TABLE t ADD COLUMN more; ALTER TABLE t RENAME COLUMN text TO words", true),
        ("INSERT INTO other SELECT hex(zeroblob(5000)) FROM t LIMIT 300", true),
        ("UPDATE t SET text = 'x' WHERE id = 1", false),
        ("UPDATE t SET text = substr(text, 1, 17000) || 'x' || substr(text, 17002) WHERE id = 3000", false),
        ("INSERT INTO t VALUES (3001, '')", false),
        ("DELETE FROM t", false),
        ("CREATE TABLE u AS SELECT * FROM t; DROP TABLE t; ALTER TABLE u RENAME TO t", false),
        ("DROP TABLE t", false),
    ]

    @Test("A table holds its records while other tables and its definition change", arguments: changes)
    func holds(_ change: (sql: String, isSame: Bool)) throws {
        let scratch = try ScratchFolder()
        let (former, store) = try Self.copies(in: scratch)
        try store.execute(change.sql)
        let pages = try #require(try UnchangedPages(in: store, since: former))
        #expect(try pages.hold("t") == change.isSame)
        #expect(try store.hasSameBytes(as: former) == (change.sql == "SELECT 1"))
    }

    @Test("Every byte of the table counts, in overflow pages too")
    func bytes() throws {
        let scratch = try ScratchFolder()
        let (former, store) = try Self.copies(in: scratch)
        let pages = try store.cursor("SELECT pageno, pagetype FROM dbstat WHERE name = 't'")
        var last: [String: Int64] = [:]
        while try pages.next() { pages.withRow { last[$0.text(1) ?? ""] = $0.integer(0) } }
        #expect(last.keys.sorted() == ["internal", "leaf", "overflow"])
        for page in last.values {
            var byte: [UInt8] = [0]
            let offset = page * 4096 - 1
            try byte.withUnsafeMutableBytes { _ = try store.read(.main, into: $0, at: offset) }
            try [byte[0] ^ 1].withUnsafeBytes { try store.write(.main, $0, at: offset) }
            #expect(try UnchangedPages(in: store, since: former)?.hold("t") == false)
            try byte.withUnsafeBytes { try store.write(.main, $0, at: offset) }
            #expect(try UnchangedPages(in: store, since: former)?.hold("t") == true)
        }
    }

    @Test("Pages in a log, of another size or in another encoding are not compared")
    func incomparable() throws {
        let scratch = try ScratchFolder()
        let (former, store) = try Self.copies(in: scratch)
        #expect(try store.value("PRAGMA journal_mode = wal")?.text == "wal")
        try store.execute("UPDATE other SET a = 2")
        #expect(try UnchangedPages(in: store, since: former) == nil)
        #expect(try UnchangedPages(in: former, since: store) == nil)
        for difference in ["PRAGMA page_size = 8192", "PRAGMA encoding = 'UTF-16le'"] {
            try scratch.makeStore("\(difference); " + Self.rows, as: "another.sqlite")
            let another = try StoreConnection(scratch.location("another.sqlite"), access: .immutable)
            #expect(try UnchangedPages(in: another, since: former) == nil)
            try another.close()
            try scratch.directory.removeFile("another.sqlite")
        }
    }

    @Test("A live store is compared only in a transaction that began with an empty log")
    func live() throws {
        let scratch = try ScratchFolder()
        let (former, _) = try Self.copies(in: scratch)
        try scratch.makeStore("PRAGMA journal_mode = wal; " + Self.rows, as: "live.sqlite")
        let (live, writer) = try (
            StoreConnection(scratch.location("live.sqlite"), access: .liveReading), scratch.open("live.sqlite")
        )
        #expect(try UnchangedPages(in: former, since: live) == nil)
        try live.beginReading()
        #expect(try UnchangedPages(in: former, since: live)?.hold("t") == true)
        try writer.execute("UPDATE t SET text = 'x'")
        live.rollback()
        try live.beginReading()
        #expect(try UnchangedPages(in: former, since: live) == nil)
        live.rollback()
        _ = try writer.value("PRAGMA wal_checkpoint(TRUNCATE)")
        try writer.beginReading()
        #expect(try UnchangedPages(in: former, since: writer)?.hold("t") == false)
        try writer.execute("UPDATE other SET a = 3")
        #expect(try UnchangedPages(in: former, since: writer) == nil)
    }

    /// Two equal files, the second one private.
    private static func copies(in scratch: ScratchFolder) throws -> (StoreConnection, StoreConnection) {
        try scratch.makeStore(rows)
        let copy = try scratch.directory.createFile("copy.sqlite", mode: 0o600)
        try scratch.directory.openFile("store.sqlite", for: .reading).copyBytes(to: copy, chunk: 1 << 20)
        try copy.close()
        return (
            try StoreConnection(scratch.location("store.sqlite"), access: .immutable),
            try StoreConnection(scratch.location("copy.sqlite"), access: .privateCopy)
        )
    }
}
