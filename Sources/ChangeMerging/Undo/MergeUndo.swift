import CSQLite
import FoundationEssentials
package import SafeFiles
import StoreAccess
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

extension MergeUndo {
    /// Gives objects versions that no reader has seen, and adds one transaction to history that lists all of them.
    func undoManaged(
        _ place: MergePlace,
        author: String,
        _ deadline: Deadline,
        _ epoch: String?,
        _ confirm: () throws -> Void
    ) throws -> Result {
        let connection = place.connection
        guard let layout = try StoreLayout(reading: connection, model: place.model) else {
            throw StoreError(.incompatible, path: connection.location.path, "the store contains no model")
        }
        let location = connection.location
        let external = ExternalDataWriter(
            location,
            in: try Directory.open(path: location.folder),
            identifiers: .random()
        )
        let writer = try RowWriter(connection, layout: layout, external: external)
        let restored = try restoreFiles(external, place.externalData)
        var abandoned: Set<String> = []
        let counts: (inserted: Int, updated: Int, deleted: Int)
        let result: SaveResult
        do {
            let undone = try undo(writer, connection, author: author, deadline, epoch, confirm, &abandoned)
            (result, counts) = (undone.result, undone.counts)
        } catch {
            for name in restored { try? external.remove(name) }
            throw error
        }
        // External files that the merge added and the rollback made obsolete.
        for name in abandoned { try? external.remove(name) }
        return Result(
            inserted: counts.inserted,
            updated: counts.updated,
            deleted: counts.deleted,
            historyTransaction: result.transaction
        )
    }

    private func undo(
        _ writer: RowWriter,
        _ connection: StoreConnection,
        author: String,
        _ deadline: Deadline,
        _ epoch: String?,
        _ confirm: () throws -> Void,
        _ abandoned: inout Set<String>
    ) throws -> (result: SaveResult, counts: (inserted: Int, updated: Int, deleted: Int)) {
        var time = Date().timeIntervalSinceReferenceDate
        if writer.tracksHistory {
            let last = try connection.value("SELECT ZTIMESTAMP FROM ATRANSACTION ORDER BY Z_PK DESC LIMIT 1")
            time = max(time, last?.number ?? time)
        }
        var counts = (inserted: 0, updated: 0, deleted: 0)
        let origin = HistoryWriter.Origin(author: author, timestamp: time)
        let result = try writer.save(from: origin, deadline: deadline) {
            try StoreFence.requireNone(in: connection)
            try dropCreated(in: connection)
            let schema = try StoreSchema(reading: connection)
            let undoing = ManagedUndoing(writer: writer, schema: schema)
            try writer.holding(IndexTriggers(schema).triggers) {
                let touched = try restoreContent(undoing, schema, connection, &counts, &abandoned)
                try PlainLayout(reading: connection).rebuildIndexes(over: touched, in: connection)
            }
            let rest = try StoreMerger.remembered(without: epoch, in: connection)
            try MetadataWriter.update([StoreMerger.epochKey: rest], in: connection)
            if let epoch { try MetadataWriter.update([StoreMerger.undoneKey: .string(epoch)], in: connection) }
            try confirm()
        }
        return (result, counts)
    }

    /// Restores the rows and the header; returns the lower-case names of the changed tables.
    private func restoreContent(
        _ undoing: ManagedUndoing,
        _ schema: StoreSchema,
        _ connection: StoreConnection,
        _ counts: inout (inserted: Int, updated: Int, deleted: Int),
        _ abandoned: inout Set<String>
    ) throws -> Set<String> {
        var touched: Set<String> = []
        try undoing.withoutDerivingTriggers {
            try removeNotedRows(from: connection, schema) { row in
                touched.insert(row.table.lowercased())
                guard try !undoing.list(row) else { return }
                switch (row.before, row.after) {
                case (nil, _): counts.deleted += 1
                case (_, nil): counts.inserted += 1
                default: counts.updated += 1
                }
            }
            try apply(to: connection) { undoing.name(of: $0) }
            try insertNotedRows(into: connection)
            try restoreHeader(of: connection)
        }
        try reader.forEachChange { change in
            touched.insert(change.table.lowercased())
            try undoing.requireNoReference(to: change)
            guard try undoing.finish(change) || undoing.isOutside(change) else { return }
            if !undoing.isOutside(change) {
                abandoned.formUnion(change.before.compactMap { $0?.blob.flatMap(ExternalDataWriter.fileName) })
                abandoned.subtract(change.after.compactMap { $0?.blob.flatMap(ExternalDataWriter.fileName) })
            }
            switch change.kind {
            case .insert: counts.inserted += 1
            case .update: counts.updated += 1
            case .delete: counts.deleted += 1
            }
        }
        return touched
    }

    /// Restores the external files that the merge replaced; returns the names of those it wrote.
    private func restoreFiles(_ external: ExternalDataWriter, _ folder: Directory?) throws -> [String] {
        var restored: [String] = []
        for (index, place) in reader.places.enumerated() where place.part == .file {
            let name = String(decoding: try reader.bytes(of: place), as: UTF8.self)
            guard try folder?.status(of: name) == nil else { continue }
            try external.write(name) { file in
                var offset: Int64 = 0
                for piece in reader.places[(index + 1)...].prefix(while: { $0.part == .fileBytes }) {
                    try reader.bytes(of: piece).withUnsafeBytes { try file.write($0, at: offset) }
                    offset += Int64(piece.count)
                }
            }
            restored.append(name)
        }
        return restored
    }
}
