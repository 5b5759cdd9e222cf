import CSQLite
import FoundationEssentials
import SafeFiles
import StoreFormat
import StoreWriting

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
            try apply(to: connection) { undoing.name(of: $0) }
            try restoreNotedRows(in: connection, schema) { row in
                touched.insert(row.table.lowercased())
                switch (row.before, row.after) {
                case (nil, _): counts.deleted += 1
                case (_, nil): counts.inserted += 1
                default: counts.updated += 1
                }
            }
            try restoreHeader(of: connection)
        }
        try reader.forEachChange { change in
            touched.insert(change.table.lowercased())
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
        var name: String?
        var bytes: [UInt8] = []
        func finish() throws {
            guard let current = name else { return }
            name = nil
            guard try folder?.status(of: current) == nil else { return }
            try external.write(bytes, as: current)
            restored.append(current)
        }
        for place in reader.places {
            switch place.part {
            case .file:
                try finish()
                name = String(decoding: try reader.bytes(of: place), as: UTF8.self)
                bytes = []
            case .fileBytes: bytes += try reader.bytes(of: place)
            default: continue
            }
        }
        try finish()
        return restored
    }
}
