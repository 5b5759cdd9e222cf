import Glibc
import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

/// A log without a main file that was displaced for a publication that then fails.
@Suite("Rollback of displaced logs")
struct SidecarsAsideTests {
    private static let theirs = "CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1), (2)"

    private let places: Places
    private let log: String
    private var container: Directory { places.container.directory }

    init() throws {
        places = try Places()
        log = places.newStore.writeAheadLogName
        // The log of a store with other tables, which SQLite would replay into any store of that name.
        let former = try ScratchFolder()
        try former.makeStore("PRAGMA journal_mode=wal; CREATE TABLE former (x)")
        let writer = try StoreWriterProcess(former.location("store.sqlite").path)
        #expect(try writer.execute("INSERT INTO former VALUES (1)") == "ok")
        try places.container.write(log, former.bytes("store.sqlite-wal"))
        writer.killNow()
    }

    private func makeTheirs() throws {
        // Made elsewhere and moved here closed, because SQLite removes the log beside an empty file.
        let elsewhere = try ScratchFolder()
        try elsewhere.makeStore(Self.theirs)
        try places.container.write(places.name, elsewhere.bytes("store.sqlite"))
    }

    private func expectTheirs(sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try container.status(of: log) == nil, sourceLocation: sourceLocation)
        let rows = try places.count("SELECT count(*) FROM theirs", in: places.newStore)
        #expect(rows == 2, sourceLocation: sourceLocation)
    }

    @Test("A rollback leaves a displaced log aside when another process has created a store")
    func besideOthers() throws {
        let aside = DisplacedFiles(for: "t", in: container)
        try aside.take(log, from: container) { _ in }
        let identity = try aside.opened()?.status().identity
        try makeTheirs()
        let remains = try #require(try DisplacedFilesRestorer(of: "t", identity: identity, in: container))
        try remains.putBack(to: places.newStore)
        try expectTheirs()
        #expect(try remains.folder.entries() == [log])
    }

    @Test(
        "A rollback moves a displaced log back to a vacant path, and with its own store",
        arguments: [false, true]
    )
    func comeBack(isWithStore: Bool) throws {
        if isWithStore { try makeTheirs() }
        let before = try places.container.everything().mapValues(\.bytes)
        let aside = DisplacedFiles(for: "t", in: container)
        if isWithStore { try aside.take(places.name, from: container) { _ in } }
        try aside.take(log, from: container) { _ in }
        let identity = try aside.opened()?.status().identity
        try DisplacedFilesRestorer(of: "t", identity: identity, in: container)?.putBack(to: places.newStore)
        #expect(try places.container.everything().mapValues(\.bytes) == before)
    }

    @Test("A rollback that a power cut interrupted leaves a log one name, after its store is back")
    func logWithTwoNames() throws {
        try makeTheirs()
        let before = try places.container.everything().mapValues(\.bytes)
        let aside = DisplacedFiles(for: "t", in: container)
        for name in [places.name, log] { try aside.take(name, from: container) { _ in } }
        let folder = try #require(aside.opened())
        for name in [log, places.name] { try folder.moveDurably(name, to: name, in: container) }
        #expect(link(container.path + "/" + log, folder.path + "/" + log) == 0)

        let remains = try DisplacedFilesRestorer(of: "t", identity: folder.status().identity, in: container)
        try #require(remains).putBack(to: places.newStore)
        #expect(try container.status(of: log)?.linkCount == 1)
        #expect(try places.container.everything().mapValues(\.bytes) == before)
    }

    @Test(
        "putBackLast moves only the last displaced file back, and replaces no newer file",
        arguments: [false, true]
    )
    func lastOne(isTaken: Bool) throws {
        let bytes = try places.container.bytes(log)
        let aside = DisplacedFiles(for: "t", in: container)
        try aside.take(log, from: container) { _ in }
        try makeTheirs()
        if isTaken { try places.container.write(log, [1, 2, 3]) }
        try aside.putBackLast()
        #expect(try places.container.bytes(log) == (isTaken ? [1, 2, 3] : bytes))
        #expect(try aside.opened()?.entries() == (isTaken ? [log] : []))
    }
}
