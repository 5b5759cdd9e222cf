import CSQLite
package import SafeFiles
import StoreFormat
import StoreWriting

/// Rolls back a recorded merge.
///
/// All or nothing: if a value that the merge wrote was changed later, nothing is rolled back, and the error names the
/// object. Assigned keys are not reused, and history continues. The store's mark of the merge is removed, so the merge
/// can run again.
package struct MergeUndo {
    let reader: RecordingReader

    /// The result of a rollback.
    package struct Result: Hashable, Sendable {
        package let inserted: Int
        package let updated: Int
        package let deleted: Int
        /// The number of its transaction in history; nil where the store keeps none.
        package let historyTransaction: Int64?
    }

    /// Reads a record; throws if it is incomplete.
    package init(reading file: DurableFile) throws { reader = try RecordingReader(file) }

    /// Rolls back the merge `epoch`, or the store's last one, in one transaction.
    ///
    /// The store must be open for `liveWriting`, without a transaction. It keeps a mark that `epoch` was rolled back,
    /// so that a second rollback fails, until ``StoreMerger/forgetMarks(of:in:deadline:)``. `confirm` is called inside
    /// the transaction once all is undone; throwing leaves the store unchanged.
    package func undo(
        in place: MergePlace,
        author: String = "store-migrate",
        deadline: Deadline,
        epoch: String? = nil,
        confirm: () throws -> Void = {}
    ) throws -> Result {
        let connection = place.connection
        if let table = reader.header.rows.keys.sorted().first {
            throw StoreError(
                .incompatible,
                path: connection.location.path,
                "cannot roll back the merge: it wrote to the table \(table), which has no primary key to identify rows"
            )
        }
        let metadata = try StoreMetadata(reading: connection)
        guard metadata?.uuid == reader.header.uuid else {
            throw StoreError(
                .incompatible,
                path: connection.location.path,
                "the record is that of a merge into another store"
            )
        }
        return metadata == nil
            ? try undoPlain(connection, deadline, epoch, confirm)
            : try undoManaged(place, author: author, deadline, epoch, confirm)
    }

    // MARK: Applying

    /// Applies the inverted changes; `name` returns the name of an object that was changed later.
    func apply(to connection: StoreConnection, _ name: @escaping (RecordedChange) -> String) throws {
        let input = ChangesetInput(reader)
        let judge = ConflictJudge()
        let code = withExtendedLifetime((input, judge)) {
            connection.withHandle { handle in
                sqlite3changeset_apply_v2_strm(
                    handle,
                    ChangesetInput.callback,
                    input.pointer,
                    nil,
                    ConflictJudge.callback,
                    Unmanaged.passUnretained(judge).toOpaque(),
                    nil,
                    nil,
                    2  // SQLITE_CHANGESETAPPLY_INVERT
                )
            }
        }
        if let error = input.error { throw error }
        func later(_ change: RecordedChange) -> StoreError {
            StoreError(
                .changedMeanwhile,
                path: connection.location.path,
                "cannot roll back the merge: \(name(change)) was changed later"
            )
        }
        if let change = judge.change { throw later(change) }
        guard code == SQLITE_OK else { throw connection.lastError }
        try UniqueValueSwap(connection).carryOut(judge.refused, later)
    }

    /// A key in the form of an error message.
    static func text(_ key: [SQLValue]) -> String {
        key.map { value in
            // A text key may contain a user's own words.
            if case .integer(let number) = value { String(number) } else { "a row" }
        }
        .joined(separator: ", ")
    }
}

/// Stops a rollback at the first conflict, and keeps the conflict.
private final class ConflictJudge {
    private(set) var change: RecordedChange?
    /// Changes that a constraint rejected, as happens when rows exchange unique values.
    private(set) var refused: [RecordedChange] = []

    static let callback: @convention(c) (UnsafeMutableRawPointer?, Int32, OpaquePointer?) -> Int32 = {
        context,
        kind,
        iterator in
        guard let context, let change = RecordedChange(iterator) else { return SQLITE_CHANGESET_ABORT }
        let judge = Unmanaged<ConflictJudge>.fromOpaque(context).takeUnretainedValue()
        if kind == SQLITE_CHANGESET_CONSTRAINT {
            judge.refused.append(change)
            return SQLITE_CHANGESET_OMIT
        }
        judge.change = change
        return SQLITE_CHANGESET_ABORT
    }
}
