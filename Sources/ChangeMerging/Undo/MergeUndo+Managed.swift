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
