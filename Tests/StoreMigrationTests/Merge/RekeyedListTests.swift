import ChangeMerging
import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

@Suite("The list of rows with another key in the merged store")
struct RekeyedListTests {
    enum Damage: String, CaseIterable, Sendable {
        case removed, emptied, truncated, overwritten

        func apply(to name: String, in folder: Directory) throws {
            guard self != .removed else { return try folder.removeFile(name) }
            let bytes = try folder.contents(of: name, limit: 1 << 20)
            let file = try folder.openFile(name, for: .writing)
            switch self {
            case .removed: break
            case .emptied: try file.truncate(to: 0)
            case .truncated: try file.truncate(to: Int64((bytes.firstIndex(of: 0x0A) ?? 0) + 1))
            case .overwritten: try [UInt8](repeating: 0x7A, count: 8).withUnsafeBytes { try file.write($0, at: 8) }
            }
            try file.close()
        }
    }

    /// A captured pair whose old rows 2 and 3 are the rows 4 and 5 of the new store.
    private func merged() throws -> (places: Places, list: String) {
        let places = try Places()
        try places.old.makeStore("CREATE TABLE t (id INTEGER PRIMARY KEY, x); INSERT INTO t VALUES (1, 'a')")
        try places.share { $0.oldStore = .capture }
        try execute("INSERT INTO t VALUES (2, 'n'), (3, 'm')", places.container)
        try execute("INSERT INTO t VALUES (2, 'o'), (3, 'p')", places.old)
        try places.share { $0.oldStore = .capture }
        #expect(try places.rows(of: places.newStore) == ["a", "m", "n", "o", "p"])
        let list = try places.journalFolder().entries().first { $0.hasSuffix(MergeRecords.Part.rekeyed.rawValue) }
        return (places, try #require(list))
    }

    private func execute(_ sql: String, _ folder: ScratchFolder) throws {
        let connection = try folder.open()
        try connection.execute(sql)
        try connection.close()
    }

    @Test("A share after the list is lost or changed ends with status 5 and names it", arguments: Damage.allCases)
    func damaged(_ damage: Damage) throws {
        let (places, list) = try merged()
        try damage.apply(to: list, in: places.journalFolder())
        try execute("UPDATE t SET x = 'o edited' WHERE id = 2", places.old)
        let before = try places.container.bytes(places.name)

        let error = #expect(throws: MigrationError.self) { try places.share { $0.oldStore = .capture } }

        #expect(error?.outcome == .verificationFailed)
        #expect(error?.path == (try places.journalFolder()).path + "/" + list)
        #expect(try places.container.bytes(places.name) == before)
    }

    @Test("A share with the undamaged list edits the row under its other key")
    func sound() throws {
        let (places, _) = try merged()
        try execute("UPDATE t SET x = 'o edited' WHERE id = 2", places.old)
        #expect(try places.share { $0.oldStore = .capture }.merge?.summary.conflicts.isEmpty == true)
        #expect(try places.rows(of: places.newStore) == ["a", "m", "n", "o edited", "p"])
    }

    @Test("Without a recorded digest a missing list is empty, and one without whole lines is an error")
    func earlierVersions() throws {
        let (places, list) = try merged()
        let folder = try places.journalFolder()
        #expect(try RekeyedLines.all(in: folder, named: list, digest: nil).count == 2)
        try Damage.overwritten.apply(to: list, in: folder)
        #expect(throws: MigrationError.self) { try RekeyedLines.all(in: folder, named: list, digest: nil) }
        try Damage.emptied.apply(to: list, in: folder)
        #expect(throws: MigrationError.self) { try RekeyedLines.all(in: folder, named: list, digest: nil) }
        try Damage.removed.apply(to: list, in: folder)
        #expect(try RekeyedLines.all(in: folder, named: list, digest: nil).isEmpty)
    }
}
