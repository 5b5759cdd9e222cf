internal import ChangeMerging
internal import FoundationEssentials
internal import SafeFiles
internal import StoreFormat
internal import StoreWriting
internal import Synchronization

extension AttachedStore {
    /// Saves a request in one transaction, or throws and leaves the store as it was.
    func save(_ request: SaveRequest, model: ModelShape) throws -> SaveOutcome {
        var request = request
        // Each round settles one uniqueness conflict, and there cannot be more of them than objects.
        for _ in 0...(request.insertions.count + request.updates.count) {
            do {
                return try attempt(request, model: model)
            } catch let conflict as UnsettledUniqueness {
                request = try conflict.settled(request, in: self, model: model)
            }
        }
        throw ManagedObjectError(.constraintConflict, "uniqueness conflicts could not be settled: \(location.path)")
    }

    private func attempt(_ request: SaveRequest, model: ModelShape) throws -> SaveOutcome {
        let origin = Self.origin(author: request.author, contextName: request.contextName)
        return try withWriter { writer, connection in
            var save = StoreSave(request, store: self, writer: writer, connection: connection, model: model)
            var outcome = SaveOutcome()
            let result: SaveResult
            do {
                result = try writer.save(from: origin, deadline: Deadline(after: lockTimeout)) {
                    outcome = try save.run()
                    try writeMetadata(through: connection)
                }
            } catch let conflict as UniquenessConflict {
                throw UnsettledUniqueness(
                    object: save.id(of: conflict.object),
                    constraint: conflict.constraint,
                    holder: conflict.holder.map(save.id)
                )
            }
            pendingMetadata.withLock { $0 = [:] }
            outcome.updated = Set(result.changes.updated.map(id))
            outcome.deleted.formUnion(result.changes.deleted.map(id))
            if let transaction = result.transaction { outcome.transactions[uuid] = transaction }
            var unread = outcome.updated.union(outcome.kept).union(request.updates.map(\.id))
            unread.formUnion(save.takeInserted(result.changes, into: &outcome))
            outcome.rows += try rows(of: Array(unread.subtracting(outcome.deleted)), through: connection)
            cache.withLock { cache in
                cache.update(outcome.rows)
                for id in outcome.deleted { cache.forget(id) }
            }
            return outcome
        }
    }

    /// What history is told of who saves.
    static func origin(author: String?, contextName: String?) -> HistoryWriter.Origin {
        HistoryWriter.Origin(
            author: author,
            context: contextName,
            process: CommandLine.arguments.first?.split(separator: "/").last.map(String.init),
            timestamp: (Date().timeIntervalSinceReferenceDate * 1_000_000).rounded() / 1_000_000
        )
    }

    /// The id of an object that the writer names.
    func id(of key: ObjectKey) -> ManagedObjectID {
        let family =
            contents.families.family(named: key.entity)
            ?? ManagedObjectID.Family(entity: key.entity, root: key.entity, storeUUID: uuid)
        return ManagedObjectID(family, primaryKey: key.primaryKey)
    }

    /// Calls `body` with the writer, which is made when it is first needed.
    func withWriter<R: Sendable>(_ body: (RowWriter, StoreConnection) throws -> R) throws -> R {
        try write { state, connection in
            if let writer = state.writer { return try body(writer, connection) }
            let writer = try RowWriter(
                connection,
                layout: contents.layout,
                external: ExternalDataWriter(
                    location,
                    in: Directory.open(path: location.folder),
                    identifiers: .random()
                )
            )
            state.writer = writer
            return try body(writer, connection)
        }
    }

    /// Writes metadata that was set and not yet saved.
    private func writeMetadata(through connection: StoreConnection) throws {
        let changes = pendingMetadata.withLock { $0 }
        if !changes.isEmpty { try MetadataWriter.update(changes, in: connection) }
    }
}
