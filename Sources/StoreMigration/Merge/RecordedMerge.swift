import ChangeMerging
import StoreFormat

/// Makes what a merge leaves beside the journal durable before its transaction commits.
final class RecordedMerge: MergeRecording {
    private let records: MergeRecords
    private let confirm: () throws -> Void

    /// Begins inside the transaction, before the first write; `confirm` is asked after the last.
    init(_ connection: StoreConnection, in records: MergeRecords, confirm: @escaping () throws -> Void) throws {
        self.records = records
        self.confirm = confirm
    }

    func finish() throws {
        try records.synchronize()
        try confirm()
    }
}
