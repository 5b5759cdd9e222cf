import ChangeMerging
import SafeFiles
import StoreAccess

/// Makes the records of a merge durable before its transaction commits.
final class RecordedMerge: MergeRecording {
    private let records: MergeRecords
    private let changeset: ChangesetRecording
    private let confirm: () throws -> Void

    /// Begins inside the transaction, before the first write; calls `confirm` after the last.
    init(
        _ place: MergePlace,
        in records: MergeRecords,
        confirm: @escaping () throws -> Void
    ) throws {
        self.records = records
        self.confirm = confirm
        changeset = try ChangesetRecording(
            place.connection,
            externalData: place.externalData,
            to: records.file(for: .changeset)
        )
    }

    func note(_ row: UnkeyedRow) throws { try changeset.note(row) }

    func keep(_ values: [SQLValue], from sources: [any LargeValueSource]) throws -> [RecordedValue] {
        try changeset.keep(values, from: sources)
    }

    func willWrite(_ table: String, _ key: Int64, overwriting columns: [String]?) throws {
        try changeset.willWrite(table, key, overwriting: columns)
    }

    func unseen<R>(_ body: () throws -> R) rethrows -> R { try changeset.unseen(body) }

    func finish() throws {
        try changeset.finish()
        try records.synchronize()
        try confirm()
    }
}
