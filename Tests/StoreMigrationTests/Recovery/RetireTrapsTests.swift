import FoundationEssentials
import Glibc
import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Files that a retirement must keep, and stores that it cannot retire")
struct RetireTrapsTests {
    private func shared(
        mode: String = "wal",
        policy: ShareOptions.OldStorePolicy = .fence
    ) throws -> (places: Places, transaction: String) {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode=\(mode); CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)")
        try places.writeExternalFile("blob", 7, count: 1000, in: places.old)
        let transaction = try places.share { $0.oldStore = policy }.transaction
        return (places, try #require(transaction))
    }

    private func retirement(of places: Places) -> StoreRetirement {
        var options = ShareOptions()
        options.lockTimeout = .seconds(60)
        return StoreRetirement(of: places.oldStore.url, options: options)
    }

    @Test("retire keeps the external files of a store whose name begins with the retired one's")
    func filesOfALongerName() throws {
        let (places, _) = try shared()
        let other = try places.old.makeStore("CREATE TABLE t (x)", as: "store.sqlite.bak")
        try places.writeExternalFile("theirs", 8, count: 10, in: places.old, of: other)

        #expect(try retirement(of: places).retireAndWait().outcome == .retired)

        #expect(try places.old.directory.externalData(of: other)?.entries() == ["theirs"])
        #expect(
            try Set(places.old.directory.entries()) == [".store-migrate", other.name, other.supportFolderName]
        )
    }

    @Test("retire is refused, and names the other store, while two stores share a folder of external files")
    func filesOfTheSameStem() throws {
        let (places, _) = try shared()
        let other = try places.old.makeStore("CREATE TABLE t (x)", as: "store.store")
        let before = try places.old.everything()

        let error = #expect(throws: MigrationError.self) { try retirement(of: places).retireAndWait() }

        #expect(error?.outcome == .needsDecision)
        #expect(error?.message.contains(other.name) == true)
        #expect(error?.advice.contains(other.path) == true)
        #expect(try places.old.everything().mapValues(\.bytes) == before.mapValues(\.bytes))
        try places.old.directory.removeFile(other.name)
        #expect(try retirement(of: places).retireAndWait().outcome == .retired)
    }

    @Test(
        "retire from an unwritable folder ends as notWritable and leaves the store intact",
        .enabled(if: FileMark.isAvailable),
        arguments: ["i", "a"]
    )
    func markedFolder(_ mark: String) throws {
        let (places, _) = try shared()
        let digest = try places.digest(of: places.oldStore)
        do {
            let mark = try #require(FileMark(mark, on: places.old.path))
            defer { withExtendedLifetime(mark) {} }
            let error = #expect(throws: MigrationError.self) { try retirement(of: places).retireAndWait() }
            #expect(error?.outcome == .notWritable)
        }
        #expect(try places.digest(of: places.oldStore) == digest)
        #expect(try retirement(of: places).retireAndWait().outcome == .retired)
    }

    @Test("A store whose programs keep its rollback journal is retired", arguments: ["truncate", "persist"])
    func keptJournal(_ mode: String) throws {
        let (places, _) = try shared(mode: mode, policy: .capture)
        #expect(try places.old.directory.entries().contains(places.oldStore.journalName))

        #expect(try retirement(of: places).retireAndWait().outcome == .retired)

        #expect(try places.old.directory.entries() == [".store-migrate"])
    }

    @Test("A store with new statistics of ANALYZE is shared already, and is retired")
    func statistics() throws {
        let (places, _) = try shared(policy: .capture)
        try execute("ANALYZE", in: places.oldStore)
        try execute("INSERT INTO t VALUES (3)", in: places.newStore)

        #expect(try places.share().outcome == .alreadyShared)
        #expect(try retirement(of: places).retireAndWait().outcome == .retired)
    }

    @Test("A table that a program dropped in the new store is no sign of an older copy", arguments: [false, true])
    func droppedTable(afterMerge: Bool) throws {
        let (places, _) = try shared(policy: .capture)
        if afterMerge {
            try execute("INSERT INTO t VALUES (7)", in: places.oldStore)
            #expect(try places.share().outcome == .merged)
        }
        try execute("DROP TABLE t; CREATE TABLE later (x)", in: places.newStore)

        #expect(try places.share().outcome == .alreadyShared)
        #expect(try retirement(of: places).retireAndWait().outcome == .retired)
    }

    @Test("A copy from before a table was created is an older one, and the old store stays")
    func olderCopy() throws {
        let places = try Places()
        try places.old.makeStore("CREATE TABLE t (x)")
        let earlier = try Data(contentsOf: places.oldStore.url)
        try execute("CREATE TABLE later (x)", in: places.oldStore)
        try places.share()
        // Without another inode, as a restored backup may be written.
        try earlier.write(to: places.newStore.url)

        let error = #expect(throws: MigrationError.self) { try retirement(of: places).retireAndWait() }
        #expect(error?.outcome == .needsDecision)
    }

    private func execute(_ sql: String, in store: StoreLocation) throws {
        let connection = try StoreConnection(store, access: .liveWriting)
        try connection.execute(sql)
        try connection.close()
    }

    @Test("A store that compresses more than 200 to 1 is archived")
    func compressible() throws {
        let places = try Places()
        try places.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(\(96 << 20)))")
        try places.share { $0.level = .content }

        #expect(try retirement(of: places).retireAndWait().outcome == .retired)
    }

    @Test("retire does not adopt an existing folder with the new name of the external files")
    func takenName() throws {
        let (places, transaction) = try shared()
        let name = RetirementDisposition.archived.name(of: places.oldStore, transaction: transaction)
        let target = places.old.location(name)
        try places.writeExternalFile("theirs", 8, count: 10, in: places.old, of: target)
        let before = try places.old.everything().filter { !$0.key.contains(".store-migrate") }

        let error = #expect(throws: MigrationError.self) { try retirement(of: places).retireAndWait() }

        #expect(error?.outcome == .needsDecision)
        let after = try places.old.everything().filter { !$0.key.contains(".store-migrate") }
        #expect(after.mapValues(\.bytes) == before.mapValues(\.bytes))
    }

    @Test(
        "A store is writable again after a retirement that fails past the read-only marker",
        arguments: ["wal", "delete"]
    )
    func unmarked(mode: String) throws {
        let (places, transaction) = try shared(mode: mode, policy: .capture)
        let name = RetirementDisposition.archived.name(of: places.oldStore, transaction: transaction)
        // A file with the new name stops the retirement right before the rename.
        try places.old.write(name, [1])

        #expect(throws: MigrationError.self) { try retirement(of: places).retireAndWait() }

        #expect(try places.records().last == .retiring(to: name))
        let app = try StoreWriterProcess(places.oldStore.path)
        #expect(try app.execute("PRAGMA journal_mode") == "value \(mode)")
        #expect(try app.execute("INSERT INTO t VALUES (3)") == "ok")
        #expect(app.waitForExit() == 0)
        let outcome = try StoreUnsharing(places.oldStore.url, from: places.newStore.url).unshareAndWait()
        #expect(outcome.outcome == .unshared)
        #expect(try places.count("SELECT count(*) FROM t", in: places.oldStore) == 3)
    }

    @Test("An archive that cannot be unpacked without a scratch folder is not reported as a mismatch")
    func unreadArchive() throws {
        let (places, transaction) = try shared()
        let name = RetirementDisposition.archived.name(of: places.oldStore, transaction: transaction)
        // A file with the new name stops the retirement after the archive is made.
        try places.old.write(name, [1])
        #expect(throws: MigrationError.self) { try retirement(of: places).retireAndWait() }
        try places.old.directory.removeFile(name)

        let (status, output) = try ChildProgram.run(
            [Checkout.program("store-migrate"), "retire", places.oldStore.path],
            environment: ["TMPDIR": places.old.path + "/nowhere"]
        )

        #expect(status == 1 && output.contains("nowhere"), "\(output)")
        #expect(try retirement(of: places).retireAndWait().outcome == .retired)
    }

    @Test(
        "The next command removes the read-only marker of a killed retirement",
        arguments: ["unshare", "share", "resume"],
        [false, true]
    )
    func leftMarked(verb: String, hasSecondName: Bool) throws {
        let (places, transaction) = try shared(mode: "delete", policy: .capture)
        let name = RetirementDisposition.archived.name(of: places.oldStore, transaction: transaction)
        var journal = try MigrationJournal(in: places.journalFolder())
        try journal.append(.retiring(to: name))
        try places.old.overwrite(places.name, at: 18, [3])
        // A power cut during the rename can leave both names.
        if hasSecondName { #expect(link(places.oldStore.path, places.old.path + "/" + name) == 0) }

        try goOn(with: verb, places)

        #expect(try places.old.directory.status(of: name) == nil)
        let app = try StoreWriterProcess(places.oldStore.path)
        #expect(try app.execute("INSERT INTO t VALUES (3)") == "ok")
        #expect(app.waitForExit() == 0)
    }

    @Test(
        "unshare removes a read-only marker that the journal does not record",
        arguments: ["wal", "delete"],
        [false, true]
    )
    func markedUnrecorded(mode: String, isUnsharing: Bool) throws {
        let (places, _) = try shared(mode: mode, policy: .capture)
        try fold(places)
        try places.old.overwrite(places.name, at: 18, [3])
        if isUnsharing {
            var journal = try MigrationJournal(in: places.journalFolder())
            try journal.append(.unsharing(transaction: RunContext.drawTransaction()))
            #expect(try Recovery(of: places.oldStore.url).resumeAndWait().outcome == .unshared)
        } else {
            let unsharing = StoreUnsharing(places.oldStore.url, from: places.newStore.url)
            #expect(try unsharing.unshareAndWait().outcome == .unshared)
        }

        let app = try StoreWriterProcess(places.oldStore.path)
        #expect(try app.execute("INSERT INTO t VALUES (3)") == "ok")
        #expect(app.waitForExit() == 0)
    }

    @Test(
        "The next command restores WAL mode once after a killed retirement",
        arguments: ["unshare", "share", "resume"],
        ["announced", "folded", "marked"]
    )
    func logGivenBack(verb: String, moment: String) throws {
        let (places, transaction) = try shared(policy: .capture)
        let name = RetirementDisposition.archived.name(of: places.oldStore, transaction: transaction)
        var journal = try MigrationJournal(in: places.journalFolder())
        try journal.append(.retiring(to: name, isLogged: true))
        if moment != "announced" { try fold(places) }
        if moment == "marked" { try places.old.overwrite(places.name, at: 18, [3]) }

        try goOn(with: verb, places)

        let app = try StoreWriterProcess(places.oldStore.path)
        #expect(try app.execute("PRAGMA journal_mode") == "value wal")
        #expect(try app.execute("INSERT INTO t VALUES (3)") == "ok")
        #expect(app.waitForExit() == 0)
        guard verb == "resume" else { return }
        #expect(try places.records().last == .retiring(to: name))
        try fold(places)
        #expect(try Recovery(of: places.oldStore.url).resumeAndWait().outcome == .done)
        #expect(try StoreHeader.formatVersions(of: places.oldStore) == (1, 1))
    }

    private func fold(_ places: Places) throws {
        let connection = try places.old.open()
        try connection.foldLogIn()
        try connection.close()
    }

    @Test("A retirement record of an earlier version decodes as one that left WAL mode alone")
    func earlierRecord() throws {
        let json = Data(#"{"retiring":{"to":"store"}}"#.utf8)
        #expect(try JSONDecoder().decode(JournalRecord.self, from: json) == .retiring(to: "store"))
    }

    @Test("Bases are removed with the share that they belong to")
    func bases() throws {
        let (places, _) = try shared(policy: .capture)
        #expect(try bases(of: places).count == 1)
        try places.container.directory.removeFile(places.name)
        try places.container.directory.removeFile(ReceiptFile.receiptName(for: places.name))
        let outcome = try places.share {
            $0.oldStore = .capture
            $0.onBoth = .keepOld
        }
        #expect(outcome.outcome == .shared)
        #expect(try bases(of: places) == [CapturedBase.name(of: outcome.transaction ?? "")])

        #expect(try retirement(of: places).retireAndWait().outcome == .retired)

        #expect(try bases(of: places).isEmpty)
    }

    @Test("A base that cannot be removed does not stop a retirement")
    func stubbornBase() throws {
        let (places, _) = try shared(policy: .capture)
        _ = try places.journalFolder().createDirectory(CapturedBase.name(of: "stubborn"), mode: 0o700)

        #expect(try retirement(of: places).retireAndWait().outcome == .retired)

        #expect(try places.old.directory.status(of: places.name) == nil)
        #expect(try places.old.directory.entries().allSatisfy { !$0.contains("retired") })
    }

    /// Runs a verb after an interrupted retirement.
    private func goOn(with verb: String, _ places: Places) throws {
        switch verb {
        case "unshare":
            let unsharing = StoreUnsharing(places.oldStore.url, from: places.newStore.url)
            #expect(try unsharing.unshareAndWait().outcome == .unshared)
        case "share": #expect(try places.share { $0.oldStore = .capture }.outcome == .alreadyShared)
        default: #expect(try Recovery(of: places.oldStore.url).resumeAndWait().outcome == .done)
        }
    }

    private func bases(of places: Places) throws -> [String] {
        try places.journalFolder().entries(where: CapturedBase.isOne)
    }
}
