import ChangeMerging
import SafeFiles
import StoreAccess
import Synchronization
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Failures around a merge's commit")
struct MergeEndTests {
    private let folder: ScratchFolder
    private var from: StoreLocation { folder.location("from") }
    private var into: StoreLocation { folder.location("into") }

    init() throws {
        folder = try ScratchFolder()
        let sql = "CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT);"
        try folder.makeStore(sql + "INSERT INTO t VALUES (1, 'from')", as: "from")
        try folder.makeStore(sql + "INSERT INTO t VALUES (2, 'into')", as: "into")
    }

    private var options: MergeOptions {
        var options = MergeOptions()
        options.level = .sqlite
        options.lockTimeout = .milliseconds(200)
        options.settings.identities = ["t": ["x"]]
        return options
    }

    private func merging() -> StoreMerging { StoreMerging(from.url, into: into.url, options: options) }

    private func hasMark() throws -> Bool {
        try StoreReader()
            .withView(of: into) { view in
                let sql = "SELECT 1 FROM sqlite_schema WHERE name = '\(StoreSchema.mergeEpochTable)'"
                return try view.connection.value(sql) != nil
            }
    }

    private func rows() throws -> Int64? {
        try StoreReader().withView(of: into) { try $0.connection.value("SELECT count(*) FROM t")?.integer }
    }

    @Test("Cancelling the proof of a merged store reports that the store is merged")
    func cancelledProof() throws {
        let isProving = Mutex(false)
        let merging = StoreMerging(
            from.url,
            into: into.url,
            options: options,
            onProgress: { progress in if progress.phase == .proving { isProving.withLock { $0 = true } } },
            isCancelled: { isProving.withLock { $0 } }
        )

        let error = #expect(throws: MigrationError.self) { try merging.mergeAndWait() }

        #expect(error?.outcome == .interrupted)
        #expect(error?.next == .verify(store: into.path))
        #expect(try rows() == 2)
        #expect(try self.merging().mergeAndWait().outcome == .done)
        #expect(try rows() == 2)
    }

    @Test("A mark that cannot be removed is a finding, and the next run removes it")
    func lockedMark() throws {
        let place = folder
        // Only this test's thread sets it: other merges of this process leave no mark in this store.
        nonisolated(unsafe) var writer: StoreConnection?
        TriggerPoint.observe { moment in
            guard moment == .merged, writer == nil, let connection = try? place.open("into"),
                let epoch = try? StoreMerger.epoch(of: connection), !epoch.isEmpty,
                (try? connection.beginWriting(deadline: Deadline(after: .seconds(60)))) != nil
            else { return }
            writer = connection
        }
        let outcome = try merging().mergeAndWait()

        #expect(outcome.outcome == .merged)
        #expect(outcome.findings.contains { $0.code.rawValue == "mergeMarkLeft" })
        let held = try #require(writer)
        held.rollback()
        try held.close()
        #expect(try hasMark())
        #expect(try merging().mergeAndWait().outcome == .done)
        #expect(try !hasMark())
        #expect(try rows() == 2)
    }

    @Test("A merge whose source changes is not planned again from the same snapshot")
    func changedSource() throws {
        let (old, journal) = (try folder.open("from"), try ScratchFolder())
        try old.beginReading()
        let step = MergeStep(
            base: nil,
            old: MergePlace(old),
            from: old.location,
            into: into,
            effect: .arrival,
            settings: options.settings,
            surroundings: Surroundings(lockTimeout: .seconds(1))
        )
        var attempts = 0
        let error = #expect(throws: StoreError.self) {
            try step.carryOut(
                epoch: "1",
                keeping: MergeRecords(of: "1", in: journal.directory),
                onBegin: { _, _ in },
                confirm: {
                    attempts += 1
                    throw StoreError(.changedMeanwhile, path: "from", "the store was written to while it was merged")
                }
            )
        }
        #expect(error?.code == .changedMeanwhile)
        #expect(attempts == 1)
        #expect(try rows() == 1)
    }
}
