import ChangeMerging
import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Infinite numbers")
struct InfiniteValueTests {
    private static let sql = """
        CREATE TABLE t (id INTEGER PRIMARY KEY, x REAL); CREATE TABLE bag (x REAL);
        INSERT INTO t VALUES (1, 1), (2, 2); INSERT INTO bag VALUES (-9e999), (9e999);
        """

    private func options(_ folder: ScratchFolder) -> MergeOptions {
        var options = MergeOptions()
        options.level = .sqlite
        options.base = folder.location("base").url
        return options
    }

    @Test("An infinity survives a merge, parking, restoring and an undo")
    func merges() throws {
        let folder = try ScratchFolder()
        for name in ["base", "from", "into"] { try folder.makeStore(Self.sql, as: name) }
        let (from, into) = (folder.location("from"), folder.location("into"))
        func execute(_ sql: String, in name: String) throws {
            let connection = try folder.open(name)
            try connection.execute(sql)
            try connection.close()
        }
        func rows(_ sql: String) throws -> Int64? {
            try StoreReader().withView(of: into) { try $0.connection.value("SELECT count(*) FROM \(sql)")?.integer }
        }
        try execute(
            "UPDATE t SET x = 9e999 WHERE id = 1; UPDATE t SET x = -9e999 WHERE id = 2;"
                + "DELETE FROM bag WHERE x < 0; INSERT INTO bag VALUES (9e999)",
            in: "from"
        )
        try execute("UPDATE t SET x = 5 WHERE id = 1", in: "into")

        let outcome = try StoreMerging(from.url, into: into.url, options: options(folder)).mergeAndWait()

        #expect(outcome.outcome == .merged)
        #expect(try rows("t WHERE x = -9e999") == 1)
        #expect(try rows("bag WHERE x = 9e999") == 2)
        #expect(try rows("bag") == 2)
        try MergeUndoing(of: into.url).unmergeAndWait()
        #expect(try rows("t WHERE x = 5 OR x = 2") == 2)
        #expect(try rows("bag WHERE x = -9e999") == 1)

        let again = try StoreMerging(from.url, into: into.url, options: options(folder)).mergeAndWait()
        let parked = try #require(again.parkedRows)
        let file = StoreLocation(
            folder: String(parked[..<(try #require(parked.lastIndex(of: "/")))]),
            name: String(parked.split(separator: "/").last ?? "")
        )
        let restored = try ParkedRowRestoring(from: file.url, into: into.url).restoreAndWait()
        #expect(restored.updated == 1)
        #expect(try rows("t WHERE x = 9e999") == 1)
    }
}
