import ChangeMerging
import SafeFiles
import StoreAccess
import TestSupport
import Testing

/// The genuine stores are Core Data's; without the table that identifies them they are plain SQLite.
@Suite("Merging the tables of genuine stores", .genuineStores)
struct PlainCorpusTests {
    private static func open(_ name: String, in folder: ScratchFolder) throws -> StoreConnection {
        let location = try Corpus.copy(name, into: folder)
        let connection = try StoreConnection(location, access: .liveWriting, lockTimeout: .seconds(60))
        try connection.execute("PRAGMA synchronous=OFF; ALTER TABLE Z_PRIMARYKEY RENAME TO Z_KEYS")
        return connection
    }

    /// Changes the first row of each ordinary table and deletes the last, if constraints and triggers permit it.
    private static func change(_ connection: StoreConnection) throws {
        for table in try StoreSchema(reading: connection).tables {
            guard table.kind == .ordinary, let row = table.rowIDName else { continue }
            let (name, number) = (SQLName.quoted(table.name), SQLName.quoted(row))
            let free = table.columns.filter { column in
                !column.isGenerated && column.primaryKeyPosition == 0 && column.name != table.rowIDAlias
                    && !table.indexes.contains { $0.isUnique && $0.columns.contains { $0.name == column.name } }
            }
            try? connection.execute("DELETE FROM \(name) WHERE \(number) = (SELECT max(\(number)) FROM \(name))")
            guard let column = free.last.map({ SQLName.quoted($0.name) }) else { continue }
            // A blob would become a text, and rarely a valid one.
            try? connection.execute(
                "UPDATE \(name) SET \(column) = ifnull(\(column), '') || 'x' "
                    + "WHERE \(number) = (SELECT min(\(number)) FROM \(name)) AND typeof(\(column)) <> 'blob'"
            )
        }
    }

    @Test("One side's changes arrive in the other, and equal stores stay unchanged", arguments: Corpus.stores)
    func arrives(_ name: String) throws {
        let (first, second, third) = (try ScratchFolder(), try ScratchFolder(), try ScratchFolder())
        let connections = try [first, second, third].map { try Self.open(name, in: $0) }
        let (base, old, shared) = (connections[0], connections[1], connections[2])
        func plan() throws -> any PlannedMerge {
            try StoreMerger(base: MergePlace(base), old: MergePlace(old), shared: MergePlace(shared)).plan()
        }
        #expect(try plan().summary.isIdle)
        try Self.change(old)
        let planned = try plan()
        // A trigger may have updated an index without texts: that merge is refused, and nothing is written.
        guard planned.summary.refusals.isEmpty else { return }
        _ = try planned.carryOut(MergeRun(epoch: "1", deadline: Deadline(after: .seconds(60))))
        func digests(_ connection: StoreConnection) throws -> [StoreDigest.Table] {
            let schema = try StoreSchema(reading: connection)
            return try StoreDigest(of: connection, externalData: nil).tables
                .filter { [.ordinary, .withoutRowID].contains(schema.table(named: $0.name)?.kind) }
        }
        let (found, expected) = (try digests(shared), try digests(old))
        for (one, other) in zip(found, expected) { #expect(one == other, "\(name): \(one.name)") }
        #expect(found.count == expected.count)
    }
}
