import CSQLite
package import SafeFiles
import StoreFormat
import StoreWriting

/// Takes a recorded merge back.
///
/// It is all or nothing: where something was written later to what the merge wrote, nothing is taken back, and the error
/// names the object. What nobody may take back stays: keys are not given out again, and history goes on. The store forgets
/// that it saw the merge, which can then be run again.
package struct MergeUndo {
    let reader: RecordingReader

    /// What an undoing did.
    package struct Result: Hashable, Sendable {
        package let inserted: Int
        package let updated: Int
        package let deleted: Int
        /// The number of its transaction in history; nil where the store keeps none.
        package let historyTransaction: Int64?
    }

    /// Reads a record; throws where it is not whole.
    package init(reading file: DurableFile) throws { reader = try RecordingReader(file) }

    /// Undoes the merge `epoch`, or whatever the store saw last, in one transaction; the store is to be open for `liveWriting`, without a transaction.
    ///
    /// The store keeps that `epoch` was taken back until it is told to forget it: it cannot be taken back twice.
    /// `confirm` is called inside the transaction once all is undone; to throw leaves the store as it was.
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
                "the merge cannot be taken back: it wrote to the table \(table), which has no primary key to tell its rows by"
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

    /// Applies the changes the other way round; `name` tells what an object is called that was written later.
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
                "the merge cannot be taken back: \(name(change)) was written after it"
            )
        }
        if let change = judge.change { throw later(change) }
        guard code == SQLITE_OK else { throw connection.lastError }
        try UniqueValueSwap(connection).carryOut(judge.refused, later)
    }

    /// A key as an error may tell it.
    static func text(_ key: [SQLValue]) -> String {
        key.map { value in
            // A key of text may be a user's own words.
            if case .integer(let number) = value { String(number) } else { "a row" }
        }
        .joined(separator: ", ")
    }
}

/// Ends an undoing at the first conflict, and remembers it.
private final class ConflictJudge {
    private(set) var change: RecordedChange?
    /// Changes that a constraint refused, as those do which pass unique values among themselves.
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
