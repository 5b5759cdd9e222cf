import FoundationEssentials
import SafeFiles
import StoreFormat
import TestSupport
import Testing

@testable import StoreMigration

@Suite("What is written to the old place is not lost, whenever it is written")
struct UnshareTrapsTests {
    private static let modes = ["wal", "delete"]

    /// A store that is shared, and captured: its writers go on.
    private func captured(mode: String = "wal") throws -> Places {
        let places = try Places()
        try places.old.makeStore(
            "PRAGMA journal_mode=\(mode); CREATE TABLE t (id INTEGER PRIMARY KEY, x); INSERT INTO t VALUES (1, 'early')"
        )
        try places.share { $0.oldStore = .capture }
        return places
    }

    private func unsharing(
        _ places: Places,
        lockTimeout: Duration = .seconds(60),
        onProgress: (@Sendable (StoreProgress) -> Void)? = nil
    ) -> StoreUnsharing {
        var options = ShareOptions()
        options.lockTimeout = lockTimeout
        return StoreUnsharing(places.oldStore.url, from: places.newStore.url, options: options, onProgress: onProgress)
    }

    private static func write(_ sql: String, to store: StoreLocation) {
        do {
            let writer = try StoreWriterProcess(store.path)
            #expect(try writer.execute(sql) == "ok")
            #expect(writer.waitForExit() == 0)
        } catch {
            Issue.record(error)
        }
    }

    private func rows(of store: StoreLocation) throws -> [String] {
        try StoreReader()
            .withView(of: store) { view in
                var rows: [String] = []
                try view.connection.forEachRow("SELECT x FROM t ORDER BY x") { rows.append($0.text(0) ?? "") }
                return rows
            }
    }

    @Test("Each store that was withdrawn keeps its own external files")
    func externalFiles() throws {
        let places = try captured()
        func withdraw() throws -> StoreLocation {
            let path = try #require(try unsharing(places).unshare().new?.path)
            return StoreLocation(path: path)
        }
        try places.writeExternalFile("one", 1, count: 10, in: places.container)
        let first = try withdraw()
        try places.share()
        try places.writeExternalFile("two", 2, count: 10, in: places.container)
        let second = try withdraw()

        let container = places.container.directory
        #expect(try container.externalData(of: first)?.entries() == ["one"])
        #expect(try container.externalData(of: second).map { try Set($0.entries()) } == ["one", "two"])
        #expect(try container.status(of: places.newStore.supportFolderName) == nil)
    }
}
