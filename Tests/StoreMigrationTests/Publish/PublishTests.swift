import ChangeRelay
import Dispatch
import Foundation
import SafeFiles
import StoreAccess
import StoreVerification
import Synchronization
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Publishing snapshots of a private store")
struct PublishTests {
    private let places: Places

    init() throws { places = try Places() }

    @discardableResult
    private func publish() throws -> PublishOutcome {
        try SnapshotPublisher(of: places.oldStore.url, to: places.newStore.url).publishAndWait()
    }

    private func isDue() throws -> Bool {
        try SnapshotPublisher(of: places.oldStore.url, to: places.newStore.url).isDue()
    }

    /// The names in the container.
    private func names() throws -> [String] { try places.container.directory.entries() }

    private func expectTidy() throws {
        let allowed: Set = [
            places.name, ".\(places.name).published.json", ".\(places.name).wake", places.newStore.supportFolderName,
            PublishedFiles.fileName(for: places.name),
        ]
        let surplus = try Set(names()).subtracting(allowed)
        #expect(surplus.isEmpty)
    }

    @Test(
        "The snapshot has the store's content, is read-only and in rollback mode; the store is unchanged",
        arguments: ["everything-in-wal", "rollback-journal", "external-data", "history-on", "fts5", "plain-sqlite"]
    )
    func content(_ fixture: String) throws {
        try places.build(fixture, at: places.oldStore)
        let before = try places.old.everything()
        let outcome = try publish()
        #expect(outcome.outcome == .published)
        #expect(outcome.findings.filter { $0.severity > .info } == [])
        #expect(try places.digest(of: places.newStore) == places.digest(of: places.oldStore))
        let digest = try places.digest(of: places.newStore)
        #expect(outcome.digest == digest)
        #expect(try places.old.everything() == before)
        let status = try #require(try places.container.directory.status(of: places.name))
        #expect(status.mode & 0o222 == 0)
        let connection = try StoreConnection(places.newStore, access: .immutable)
        #expect(try connection.value("PRAGMA journal_mode")?.text != "wal")
        try connection.close()
        // A token proves nothing if an external file was written within the clock's tick before it.
        for _ in 0..<1000 where try isDue() { #expect(try publish().outcome == .alreadyPublished) }
        #expect(try !isDue())
        let again = try places.container.everything()
        #expect(try publish().outcome == .alreadyPublished)
        #expect(try places.container.everything() == again)
        try expectTidy()
    }

    @Test(
        "A snapshot is no new store: a share names how to remove it, and a shared store is never replaced by a snapshot"
    )
    func share() throws {
        try places.build("external-data", at: places.oldStore)
        try publish()
        let snapshot = try places.container.everything()
        let migrator = StoreMigrator(from: places.oldStore.url, to: places.newStore.url)
        let merging = StoreMerging(places.oldStore.url, into: places.newStore.url)
        for attempt in [
            { _ = try migrator.shareStoreIfNecessaryAndWait() }, { _ = try migrator.planAndWait() },
            { _ = try merging.mergeAndWait() },
        ] {
            let error = #expect(throws: MigrationError.self) { try attempt() }
            #expect(error?.outcome == .needsDecision && error?.next == .removeSnapshot(path: places.newStore.path))
        }
        let status = try migrator.statusAndWait()
        #expect(status.next == .removeSnapshot(path: places.newStore.path))
        #expect(status.findings.contains { $0.code == .publishedSnapshot })
        #expect(try places.container.everything() == snapshot)

        try places.container.directory.removeFile(places.name)
        #expect(try places.share().outcome == .shared)
        let shared = try places.container.directory.status(of: places.name)?.identity
        let error = #expect(throws: MigrationError.self) { try publish() }
        #expect(error?.outcome == .needsDecision)
        #expect(try places.container.directory.status(of: places.name)?.identity == shared)
        #expect(
            try StoreVerifier().verify(places.newStore, level: .coredata).findings.filter { $0.severity > .info } == []
        )
    }

    @Test("A reader of the former snapshot keeps a whole store; it is removed when the reader has closed it")
    func former() throws {
        try places.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        try places.writeExternalFile("FIRST", 1, count: 4096, in: places.old)
        try publish()
        let reader = try StoreConnection(places.newStore, access: .immutable)
        #expect(try reader.value("SELECT x FROM t")?.integer == 1)

        try places.old.directory.externalData(of: places.oldStore)?.removeFile("FIRST")
        try places.writeExternalFile("SECOND", 2, count: 4096, in: places.old)
        let writer = try StoreConnection(places.oldStore, access: .liveWriting)
        try writer.run("UPDATE t SET x = 2", [])
        try writer.close()
        let outcome = try publish()
        #expect(outcome.outcome == .published)
        #expect(outcome.openFormerSnapshots == 1)
        #expect(outcome.externalFiles == 1)
        #expect(try reader.value("SELECT x FROM t")?.integer == 1)
        #expect(try places.externalFiles(in: places.container.directory) == ["FIRST": 1, "SECOND": 2])
        #expect(try places.count("SELECT x FROM t", in: places.newStore) == 2)
        #expect(try publish().openFormerSnapshots == 1)

        try reader.close()
        let later = try publish()
        #expect(later.outcome == .alreadyPublished)
        #expect(later.openFormerSnapshots == 0)
        // No reader can need the former snapshot's files any more.
        #expect(try places.externalFiles(in: places.container.directory) == ["SECOND": 2])
        try expectTidy()
    }

    @Test("A write that changes no content is no new snapshot")
    func sameContent() throws {
        try places.old.makeStore("PRAGMA journal_mode = wal; CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        try publish()
        let before = try places.container.directory.status(of: places.name)?.identity
        let writer = try StoreConnection(places.oldStore, access: .liveWriting)
        try writer.run("UPDATE t SET x = 2", [])
        try writer.run("UPDATE t SET x = 1", [])
        try writer.close()
        #expect(try isDue())
        #expect(try publish().outcome == .alreadyPublished)
        #expect(try places.container.directory.status(of: places.name)?.identity == before)
        #expect(try !isDue())
        try expectTidy()
    }

    @Test("Readers are not notified again when a write after a replacement changes no content")
    func sameContentLater() throws {
        try places.old.makeStore("PRAGMA journal_mode = wal; CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        try publish()
        let writer = try StoreConnection(places.oldStore, access: .liveWriting)
        try writer.run("UPDATE t SET x = 2", [])
        #expect(try publish().outcome == .published)
        let wake = try places.container.directory.contents(of: ".\(places.name).wake", limit: 100)
        #expect(!wake.isEmpty)
        try writer.run("UPDATE t SET x = 3", [])
        try writer.run("UPDATE t SET x = 2", [])
        try writer.close()
        #expect(try publish().outcome == .alreadyPublished)
        #expect(try places.container.directory.contents(of: ".\(places.name).wake", limit: 100) == wake)
        try expectTidy()
    }

    @Test("Readers that a publication could not notify are notified by the next one")
    func notifiedLater() throws {
        try places.old.makeStore("PRAGMA journal_mode = wal; CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        try publish()
        let writer = try StoreConnection(places.oldStore, access: .liveWriting)
        try writer.run("UPDATE t SET x = 2", [])
        try writer.close()
        let (folder, wake) = (places.container.directory, ".\(places.name).wake")
        try folder.removeFile(wake)
        _ = try folder.createDirectory(wake, mode: 0o755)
        // The first call publishes, the second one only finishes.
        for _ in 1...2 { #expect(throws: (any Error).self) { try publish() } }
        #expect(try SnapshotRecord(beside: places.name, in: folder)?.former != nil)
        try folder.removeDirectory(wake)
        #expect(try publish().outcome == .alreadyPublished)
        #expect(try folder.status(of: wake)?.kind == .regular)
        #expect(try SnapshotRecord(beside: places.name, in: folder)?.former == nil)
        try expectTidy()
    }

    @Test("What is not a snapshot of the store is never replaced")
    func notOurs() throws {
        try places.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        func expectRefusal(_ comment: Comment) throws {
            let before = try places.container.everything()
            let error = #expect(throws: MigrationError.self, comment) { try publish() }
            #expect(error?.outcome == .needsDecision, comment)
            #expect(error?.next != nil, comment)
            #expect(try places.container.everything() == before, comment)
        }
        try places.container.makeStore("CREATE TABLE u (x)")
        try expectRefusal("another store")
        try places.container.directory.removeFile(places.name)
        try publish()
        let writer = try StoreConnection(places.newStore, access: .liveWriting)
        try writer.run("INSERT INTO t VALUES (2)", [])
        try writer.close()
        try expectRefusal("a snapshot that was written to")
        try places.container.directory.removeFile(places.name)
        try publish()
        try places.container.directory.createFile(places.newStore.writeAheadLogName, mode: 0o600).close()
        try expectRefusal("a log beside the snapshot")
        try places.container.directory.removeFile(places.newStore.writeAheadLogName)
        #expect(try publish().outcome == .alreadyPublished)
        let other = try Places()
        try other.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (3)")
        let error = #expect(throws: MigrationError.self) {
            try SnapshotPublisher(of: other.oldStore.url, to: places.newStore.url).publishAndWait()
        }
        #expect(error?.outcome == .needsDecision)
        #expect(throws: MigrationError.self) {
            try SnapshotPublisher(of: places.oldStore.url, to: places.oldStore.url).publishAndWait()
        }
    }

    @Test("External files of others stay, and a snapshot that would share the store's own is refused")
    func filesOfOthers() throws {
        try places.old.makeStore("CREATE TABLE t (x)")
        try places.writeExternalFile("OWN", 1, count: 100, in: places.old)
        try places.writeExternalFile("FOREIGN", 2, count: 100, in: places.container)
        try publish()
        let writer = try StoreConnection(places.oldStore, access: .liveWriting)
        try writer.run("INSERT INTO t VALUES (2)", [])
        try writer.close()
        try publish()
        #expect(try places.externalFiles(in: places.container.directory) == ["FOREIGN": 2, "OWN": 1])
        let error = #expect(throws: MigrationError.self) {
            try SnapshotPublisher(of: places.oldStore.url, to: places.old.location("store.snapshot").url)
                .publishAndWait()
        }
        #expect(error?.outcome == .usage)
    }

    @Test("An external file that the store lacks is a warning")
    func missingFile() throws {
        try places.build("missing-external-file", at: places.oldStore)
        let outcome = try publish()
        #expect(outcome.outcome == .published)
        #expect(outcome.findings.contains { $0.code == .externalFileMissing && $0.severity == .warning })
    }

    @Test("A fenced store is not published, and the error names where its data is")
    func fenced() throws {
        try places.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        try places.share()
        let snapshot = try ScratchFolder()
        let error = #expect(throws: MigrationError.self) {
            try SnapshotPublisher(of: places.oldStore.url, to: snapshot.location("s.sqlite").url).publishAndWait()
        }
        #expect(error?.outcome == .needsDecision)
        #expect(error?.message.contains(places.newStore.path) == true)
        #expect(try snapshot.directory.entries().isEmpty)
    }

    @Test("Listeners beside the snapshot are notified of a new one")
    func notified() throws {
        try places.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        try publish()
        let peer = try StoreWriterProcess(program: "relay-peer", ["wake", places.newStore.path])
        defer { peer.killNow() }
        #expect(try peer.execute("listen") == "ok")
        let writer = try StoreConnection(places.oldStore, access: .liveWriting)
        try writer.run("INSERT INTO t VALUES (2)", [])
        try writer.close()
        #expect(try publish().outcome == .published)
        #expect(try peer.execute("wait 1") != "late")
    }
}

@Suite("Readers of snapshots that are replaced")
struct PublishedReadersTests {
    private static let readers = 3
    private static let isSoak = ProcessInfo.processInfo.environment["STORE_MIGRATE_SOAK"] != nil
    private static let snapshots = isSoak ? 10_000 : 50
    private static let opens = isSoak ? 1_000_000 : 0

    @Test("No reader sees a mixed state, a missing external file or a lock, while a store is published again and again")
    func readers() throws {
        let places = try Places()
        try places.old.makeStore(
            "PRAGMA journal_mode = wal; CREATE TABLE t (n INTEGER); CREATE TABLE picture (name TEXT);"
                + "WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < 500)"
                + "INSERT INTO t SELECT 0 FROM i; INSERT INTO picture VALUES ('0')"
        )
        try places.writeExternalFile("0", 0, count: 5000, in: places.old)
        let publisher = SnapshotPublisher(of: places.oldStore.url, to: places.newStore.url)
        try publisher.publishAndWait()
        let isDone = Atomic(false)
        let opened = Atomic(0)
        let mistakes = Mutex<[String]>([])
        let group = DispatchGroup()
        for _ in 0..<Self.readers {
            DispatchQueue.global()
                .async(group: group) {
                    while !isDone.load(ordering: .relaxed) || opened.load(ordering: .relaxed) < Self.opens {
                        do {
                            let seen = try Self.read(places)
                            opened.add(1, ordering: .relaxed)
                            if let seen { mistakes.withLock { $0.append(seen) } }
                        } catch let error as StoreError where error.code == .changedMeanwhile {
                            // A snapshot was published between the two steps of opening.
                            continue
                        } catch {
                            mistakes.withLock { $0.append("\(error)") }
                        }
                    }
                }
        }
        let writer = try StoreConnection(places.oldStore, access: .liveWriting)
        let external = try #require(try places.old.directory.externalData(of: places.oldStore))
        for number in 1...Self.snapshots {
            try places.writeExternalFile("\(number)", UInt8(truncatingIfNeeded: number), count: 5000, in: places.old)
            try writer.run("BEGIN", [])
            try writer.run("UPDATE t SET n = ?", [.integer(Int64(number))])
            try writer.run("UPDATE picture SET name = ?", [.text("\(number)")])
            try writer.run("COMMIT", [])
            // As an app's own checkpoints do: a publication reads the whole log.
            if number.isMultiple(of: 100) { _ = try writer.value("PRAGMA wal_checkpoint(TRUNCATE)") }
            try external.removeFile("\(number - 1)")
            #expect(try publisher.publishAndWait().outcome == .published)
            let locks = try SuspensionCheck(of: places.newStore.path).locks
            #expect(locks.isEmpty, "\(locks)")
        }
        isDone.store(true, ordering: .relaxed)
        group.wait()
        try writer.close()
        #expect(mistakes.withLock { $0 } == [])
        #expect(try publisher.publishAndWait().openFormerSnapshots == 0)
        #expect(try places.externalFiles(in: places.container.directory)?["\(Self.snapshots)"] != nil)
    }

    /// What is wrong with the snapshot that a reader opens; nil if nothing is.
    private static func read(_ places: Places) throws -> String? {
        let connection = try StoreConnection(places.newStore, access: .immutable)
        defer { try? connection.close() }
        guard let number = try connection.value("SELECT n FROM t LIMIT 1")?.integer,
            try connection.value("SELECT count(*) FROM t WHERE n <> ?", [.integer(number)])?.integer == 0,
            try connection.value("SELECT name FROM picture")?.text?.description == "\(number)"
        else { return "a mixed state" }
        let file = try places.container.directory.externalData(of: places.newStore)?
            .contents(of: "\(number)", limit: 9999)
        return file == [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 5000)
            ? nil : "another external file"
    }
}
