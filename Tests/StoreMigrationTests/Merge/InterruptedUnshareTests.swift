import SafeFiles
import StoreFormat
import StoreVerification
import TestSupport
import Testing

@testable import StoreMigration

@Suite("A way back that was killed at the moment in which it replaces the old store's content")
struct InterruptedUnshareTests {
    private func shared(_ policy: ShareOptions.OldStorePolicy) throws -> Places {
        let places = try Places()
        try places.old.makeStore(
            "PRAGMA journal_mode=delete; CREATE TABLE t (id INTEGER PRIMARY KEY, x); INSERT INTO t VALUES (1, 'early')"
        )
        try places.share { $0.oldStore = policy }
        return places
    }

    private func unsharing(_ places: Places, level: VerificationLevel = .content) -> StoreUnsharing {
        var options = ShareOptions()
        options.lockTimeout = .seconds(60)
        options.level = level
        return StoreUnsharing(places.oldStore.url, from: places.newStore.url, options: options)
    }

    private func write(_ sql: String, to store: StoreLocation) throws {
        let writer = try StoreWriterProcess(store.path)
        #expect(try writer.execute(sql) == "ok")
        #expect(writer.waitForExit() == 0)
    }

    private func rows(of store: StoreLocation) throws -> [String] {
        try StoreReader()
            .withView(of: store) { view in
                var rows: [String] = []
                try view.connection.forEachRow("SELECT x FROM t ORDER BY x") { rows.append($0.text(0) ?? "") }
                return rows
            }
    }

    @Test(
        "Both places held the same: the old one takes writes afterwards, whether its content was replaced or not",
        arguments: ShareOptions.OldStorePolicy.allCases,
        [false, true]
    )
    func sameContent(policy: ShareOptions.OldStorePolicy, isCommitted: Bool) throws {
        let places = try shared(policy)
        _ = try InterruptedWayBack(of: places, isCommitted: isCommitted)

        #expect(try unsharing(places).unshare().outcome == .unshared)

        #expect(try !places.isFenced(places.oldStore))
        try write("INSERT INTO t VALUES (2, 'after')", to: places.oldStore)
        #expect(try rows(of: places.oldStore) == ["after", "early"])
        #expect(try places.container.directory.status(of: places.name) == nil)
        #expect(try places.share().outcome == .shared)
        #expect(try rows(of: places.newStore) == ["after", "early"])
    }
}
