import ChangeMerging
import FoundationEssentials
import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Stores that are out of use, and chains of shares")
struct SuccessionTests {
    /// a was shared to b, and b to c; c has an additional row.
    private func chain(first: ShareOptions.OldStorePolicy = .capture, retired: Bool = false) throws -> Lives {
        let lives = try Lives()
        try lives.share("a", "b", first)
        try lives.share("b", "c", .fence)
        try lives.write("INSERT INTO t VALUES (5, 'at c')", at: "c")
        if retired { try lives.retire("b") }
        return lives
    }

    @Test(
        "Late writes are not merged into a fenced store; the named command carries them along the chain"
    )
    func lateWrites() throws {
        let lives = try chain()
        try lives.write("INSERT INTO t VALUES (7, 'late')", at: "a")
        let before = try lives.values(at: "b")

        let outcome = try lives.share("a", "b")

        #expect(outcome.outcome == .needsDecision)
        let (a, c) = try (lives.store("a").path, lives.store("c").path)
        #expect(outcome.next == .share(old: a, new: c))
        #expect(outcome.message.contains(c))
        #expect(try lives.values(at: "b") == before)
        #expect(try lives.share("a", "c").outcome == .merged)
        #expect(try lives.values(at: "c") == ["one", "two", "at c", "late"])
        #expect(try lives.share("a", "c").outcome == .alreadyShared)
        #expect(try lives.share("b", "c", .fence).outcome == .alreadyShared)
        #expect(try lives.retire("a").outcome == .retired)
    }

    @Test("Nothing is published at the path of a retired store in a chain")
    func retiredMiddle() throws {
        let lives = try chain(retired: true)
        try lives.write("INSERT INTO t VALUES (7, 'late')", at: "a")

        let outcome = try lives.share("a", "b")

        #expect(outcome.outcome == .needsDecision)
        #expect(try lives.folder("b").directory.status(of: "store.sqlite") == nil)
        #expect(throws: MigrationError.self) { try lives.retire("a") }
        #expect(try lives.share("a", "c").outcome == .merged)
        #expect(try lives.values(at: "c") == ["one", "two", "at c", "late"])
        #expect(try lives.retire("a").outcome == .retired)
    }

    @Test("An old store without late writes is retired once its data is proved at the end of the chain")
    func retire() throws {
        let lives = try chain(retired: true)

        #expect(try lives.retire("a").outcome == .retired)

        #expect(try lives.values(at: "c") == ["one", "two", "at c"])
    }

    @Test("The record follows the chain, and the fence names the store at its end")
    func recordFollows() throws {
        let lives = try chain()

        #expect(try lives.share("a", "c", .fence).outcome == .alreadyShared)

        guard case .shared(let shared) = try lives.state("a") else {
            Issue.record("no record stands")
            return
        }
        #expect(try shared.run.new == lives.store("c"))
        let refusal = #expect(throws: StoreError.self) { try lives.write("INSERT INTO t VALUES (8, 'x')", at: "a") }
        #expect(try refusal?.message.contains(lives.store("c").path) == true)
        #expect(try lives.unshare("a", "c").outcome == .unshared)
        #expect(try lives.values(at: "a") == ["one", "two", "at c"])
        try lives.write("INSERT INTO t VALUES (8, 'x')", at: "a")
    }

    @Test("A chain is unshared store by store, the last one first", arguments: [false, true])
    func unshare(retired: Bool) throws {
        let lives = try chain(first: .fence, retired: retired)

        let error = #expect(throws: MigrationError.self) { try lives.unshare("a", "b") }

        #expect(error?.outcome == .needsDecision)
        #expect(try error?.next == .unshare(old: lives.store("b").path, new: lives.store("c").path))
        #expect(try lives.unshare("b", "c").outcome == .unshared)
        #expect(try lives.unshare("a", "b").outcome == .unshared)
        #expect(try lives.values(at: "a") == ["one", "two", "at c"])
        try lives.write("INSERT INTO t VALUES (8, 'x')", at: "a")
    }

    @Test("merge, unmerge and restored rows are refused for a fenced store, with the next command")
    func otherWriters() throws {
        let lives = try chain()
        let (a, b, c) = try (lives.store("a").path, lives.store("b").path, lives.store("c").path)

        let merge = #expect(throws: MigrationError.self) { try lives.merge(into: "b", from: "a") }
        #expect(merge?.next == .merge(into: c, from: a))
        let back = #expect(throws: MigrationError.self) { try lives.merge(into: "b", from: "c") }
        #expect(back?.next == .unshare(old: b, new: c))
        let unmerge = #expect(throws: MigrationError.self) { try lives.unmerge("b") }
        #expect(unmerge?.next == .unshare(old: b, new: c))
        for error in [merge, back, unmerge] { #expect(error?.outcome == .needsDecision) }
        #expect(try lives.values(at: "b") == ["one", "two"])
    }

    @Test("A fence set between the plan of a merge and its transaction stops the merge")
    func fencedMeanwhile() throws {
        let lives = try Lives()
        let late = try lives.folder("c")
            .makeStore("CREATE TABLE t (id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (30, 'third')")
        let from = try StoreConnection(late, access: .immutable)
        try from.beginReading()
        var settings = MergeSettings()
        settings.identities = ["t": ["v"]]
        let step = try MergeStep(
            base: nil,
            old: MergePlace(from),
            from: late,
            into: lives.store("a"),
            effect: .arrival,
            settings: settings,
            surroundings: Surroundings(lockTimeout: .seconds(60))
        )
        let journal = try lives.folder("b").directory
        let error = #expect(throws: StoreError.self) {
            try step.carryOut(
                epoch: "1",
                keeping: MergeRecords(of: "1", in: journal),
                onBegin: { _, _ in
                    let other = try lives.folder("a").open()
                    try other.inTransaction(until: Deadline(after: .seconds(60))) {
                        let transaction = String(repeating: "a", count: 32)
                        _ = try FenceWriter(other).set(transaction: transaction, newPath: "/elsewhere")
                    }
                    try other.close()
                }
            )
        }

        #expect(error?.code == .fenced)
        #expect(try lives.values(at: "a") == ["one", "two"])
        let opening = #expect(throws: StoreError.self) {
            try WritableStore(lives.store("a"), .arrival, lockTimeout: .seconds(60)).connection.close()
        }
        #expect(opening?.code == .fenced)
    }

    /// c holds a row of its own, and its share to b was interrupted when b was published and c not yet fenced.
    private func interrupted(_ lives: Lives) throws {
        if try lives.folder("c").directory.status(of: "store.sqlite") == nil {
            _ = try lives.folder("c")
                .makeStore("CREATE TABLE t (id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (9, 'at c')")
        }
        try lives.write("PRAGMA journal_mode = delete", at: "c")
        let reader = try StoreWriterProcess(lives.store("c").path)
        _ = try reader.execute("BEGIN")
        _ = try reader.execute("SELECT count(*) FROM t")
        let error = #expect(throws: MigrationError.self) {
            try lives.share("c", "b", .fence) { $0.lockTimeout = .seconds(1) }
        }
        _ = reader.waitForExit()
        try #require(error?.outcome == .interrupted)
    }

    @Test("A share into a store whose own share was interrupted ends that one first, and then writes nothing there")
    func interruptedDestination() throws {
        let lives = try Lives()
        try interrupted(lives)
        let plan = try lives.migrator("a", "c").planAndWait()
        #expect(plan.outcome == .interrupted)
        #expect(try plan.next == .resume(old: lives.store("c").path))

        let outcome = try lives.share("a", "c") { $0.onBoth = .keepOld }

        #expect(outcome.outcome == .needsDecision)
        #expect(try outcome.message.contains(lives.store("b").path))
        #expect(try lives.values(at: "c") == ["at c"])
        #expect(try lives.values(at: "b") == ["at c"])
        guard case .shared = try lives.state("c") else {
            Issue.record("the interrupted share has not come to its end")
            return
        }
    }

    @Test("An unshare from a store whose own share was interrupted ends that one first, and names its way back")
    func interruptedReverseShare() throws {
        let lives = try Lives()
        try lives.share("a", "c")
        try interrupted(lives)
        try lives.write("INSERT INTO t VALUES (7, 'late')", at: "a")

        let error = #expect(throws: MigrationError.self) { try lives.unshare("a", "c") }

        #expect(error?.outcome == .needsDecision)
        #expect(try error?.next == .unshare(old: lives.store("c").path, new: lives.store("b").path))
        #expect(try lives.values(at: "a") == ["one", "two", "late"])
        #expect(try lives.values(at: "b") == ["one", "two"])
    }

    @Test("retire refuses a store that was withdrawn and shared again")
    func withdrawnAndSharedAnew() throws {
        let lives = try Lives()
        try lives.share("a", "b")
        try lives.unshare("a", "b")
        try lives.share("a", "b")

        let error = #expect(throws: MigrationError.self) { try lives.retire("b") }

        #expect(error?.outcome == .needsDecision)
        #expect(try lives.values(at: "b") == ["one", "two"])
    }

    @Test("An unshare names the copy of the old store, which holds rows that --on-both keep-new left there")
    func formerContentIsNamed() throws {
        let lives = try Lives()
        try lives.share("a", "b")
        try lives.write("INSERT INTO t VALUES (7, 'late')", at: "a")
        try lives.share("a", "b") { $0.onBoth = .keepNew }

        let outcome = try lives.unshare("a", "b")

        #expect(try lives.values(at: "a") == ["one", "two"])
        let former = try #require(outcome.findings.first { $0.code == .storeKeptAside }?.path)
        var values: [String] = []
        try StoreReader()
            .withView(of: StoreLocation(path: former)) { view in
                try view.connection.forEachRow("SELECT v FROM t ORDER BY id") { values.append($0.text(0) ?? "") }
            }
        #expect(values == ["one", "two", "late"])
    }
}
