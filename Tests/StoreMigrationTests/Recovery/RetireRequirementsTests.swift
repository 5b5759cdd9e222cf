import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Requirements of a retirement")
struct RetireRequirementsTests {
    /// A shared store with an external file.
    private func shared() throws -> (places: Places, transaction: String) {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode=delete; CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)")
        try places.writeExternalFile("blob", 7, count: 1000, in: places.old)
        return (places, try #require(try places.share().transaction))
    }

    @Test("A retirement that names another new store than the share's is refused, and changes nothing")
    func expected() throws {
        let (places, _) = try shared()
        let other = try places.container.makeStore("CREATE TABLE t (x)", as: "other.sqlite")
        let before = try places.old.everything()

        let error = #expect(throws: MigrationError.self) {
            try StoreRetirement(of: places.oldStore.url, sharedTo: other.url).retireAndWait()
        }

        #expect(error?.outcome == .needsDecision)
        #expect(error?.path == other.path)
        #expect(error?.next == .status(old: places.oldStore.path, new: places.newStore.path))
        #expect(try places.old.everything().mapValues(\.bytes) == before.mapValues(\.bytes))
        let retirement = StoreRetirement(of: places.oldStore.url, sharedTo: places.newStore.url)
        #expect(try retirement.retireAndWait().outcome == .retired)
    }

    @Test("A killed retirement is not finished while another store uses the folder of external files")
    func filesOfTheSameStem() throws {
        let (places, transaction) = try shared()
        let folder = places.old.directory
        let name = RetirementDisposition.archived.name(of: places.oldStore, transaction: transaction)
        var journal = try MigrationJournal(in: places.journalFolder())
        try journal.append(.retiring(to: name))
        try folder.move(places.name, to: name, in: folder)
        let other = try places.old.makeStore("CREATE TABLE t (x)", as: "store.store")
        let retirement = StoreRetirement(of: places.oldStore.url)

        let error = #expect(throws: MigrationError.self) { try retirement.retireAndWait() }

        #expect(error?.outcome == .needsDecision)
        #expect(error?.message.contains(other.name) == true)
        #expect(try folder.externalData(of: other)?.entries() == ["blob"])
        try folder.removeFile(other.name)
        #expect(try retirement.retireAndWait().outcome == .retired)
        #expect(try folder.status(of: places.oldStore.supportFolderName) == nil)
    }
}
