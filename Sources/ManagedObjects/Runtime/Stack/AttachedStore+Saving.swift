internal import ChangeMerging
internal import SafeFiles
internal import StoreAccess
internal import StoreFormat
internal import StoreWriting
internal import Synchronization

extension AttachedStore {
    /// Saves a request in one transaction, or throws and leaves the store unchanged.
    ///
    /// `beforeCommit` is called after all writes; if it throws, they are rolled back.
    func save(
        _ request: SaveRequest,
        model: ModelShape,
        beforeCommit: () throws -> Void = {}
    ) throws -> SaveOutcome {
        guard readOnlyReason == nil else { throw readOnlyError }
        var request = request
        var isSurveyed = false
        // Each round settles at least one uniqueness conflict, and there are at most as many conflicts as objects.
        for _ in 0...(request.insertions.count + request.updates.count + 1) {
            do {
                return try attempt(request, model: model, beforeCommit)
            } catch let conflict as UnsettledUniqueness {
                if !request.parksUniqueValues, try request.changesUniqueValues(in: model) {
                    // The conflicting object may be about to change its unique values too.
                    request.parksUniqueValues = true
                } else {
                    request = try conflict.settled(request, in: self, model: model)
                    // If one new object exists already, as in an import, most others do too: find them all at once.
                    let others = isSurveyed ? [] : try knownObjects(in: request)
                    for other in others { request = try other.settled(request, in: self, model: model) }
                    isSurveyed = true
                }
            }
        }
        throw ManagedObjectError(.constraintConflict, "uniqueness conflicts could not be settled: \(location.path)")
    }

    private func attempt(
        _ request: SaveRequest,
        model: ModelShape,
        _ beforeCommit: () throws -> Void
    ) throws -> SaveOutcome {
        let origin = Self.origin(author: request.author, contextName: request.contextName)
        return try withWriter { writer, connection in
            var save = StoreSave(request, store: self, writer: writer, connection: connection, model: model)
            var outcome = SaveOutcome()
            var metadata: [String: PropertyListValue?] = [:]
            let rowsBefore = try connection.rowsChanged()
            defer { poster?.abandon() }
            do {
                let result = try writer.save(from: origin, deadline: Deadline(after: lockTimeout)) {
                    outcome = try save.run()
                    metadata = try writeMetadata(through: connection)
                    try requireNoNewHistory(connection)
                } beforeCommit: {
                    try complete(&outcome, of: &save, connection)
                    try beforeCommit()
                    beginPosting(outcome, author: request.author, since: rowsBefore, connection)
                }
                poster?.finish(result.transaction)
                if let transaction = result.transaction { outcome.transactions[uuid] = transaction }
            } catch let conflict as UniquenessConflict {
                throw UnsettledUniqueness(
                    object: save.id(of: conflict.object),
                    constraint: conflict.constraint,
                    holder: conflict.holder.map(save.id)
                )
            } catch let conflict as VersionConflict {
                throw publicError(for: conflict)
            }
            forgetPendingMetadata(metadata)
            // Update the time, because concurrent readers have read the rows before the commit.
            let time = ContinuousClock.now
            outcome.rows = outcome.rows.map { $0.read(at: time) }
            cache.withLock { cache in
                cache.save(outcome.rows)
                cache.forget(outcome.deleted)
            }
            return outcome
        }
    }

    /// Finds new objects whose unique values exist in the store; conflicts among new objects are found one by one.
    ///
    /// Ignores objects that this save deletes or updates, because their values may change.
    private func knownObjects(in request: SaveRequest) throws -> [UnsettledUniqueness] {
        let unsure = Set(request.deletions.map(\.id)).union(request.updates.map(\.id))
        return try withWriter { writer, _ in
            var result: [UnsettledUniqueness] = []
            for insertion in request.insertions {
                for constraint in insertion.shape.uniquenessConstraints {
                    let values = insertion.values.filter { constraint.contains($0.key) }
                    var attributes: [String: AttributeValue] = [:]
                    for case (let name, .attribute(let value)) in values where !value.isNull {
                        attributes[name] = value
                    }
                    guard attributes.count == constraint.count else { continue }
                    let stored = try writer.stored(attributes, for: insertion.shape.name)
                    guard let holder = try writer.holder(of: stored, in: insertion.shape.name).map(id),
                        !unsure.contains(holder)
                    else { continue }
                    result.append(UnsettledUniqueness(object: insertion.id, constraint: constraint, holder: holder))
                    break
                }
            }
            return result
        }
    }

    /// Adds the writer's changes and the final rows to an outcome, before the commit, because no step after it may
    /// fail.
    private func complete(_ outcome: inout SaveOutcome, of save: inout StoreSave, _ connection: StoreConnection) throws
    {
        let changes = save.writer.changes
        outcome.updated = Set(changes.updated.map(id))
        outcome.deleted.formUnion(changes.deleted.map(id))
        var unread = outcome.updated.union(outcome.kept).union(save.request.updates.map(\.id))
        unread.formUnion(save.takeInserted(changes, into: &outcome))
        outcome.rows += try rows(of: Array(unread.subtracting(outcome.deleted)), through: connection)
    }

    /// The error for callers, without the writer's own object key.
    func publicError(for conflict: VersionConflict) -> ManagedObjectError {
        ManagedObjectError(
            conflict.found == nil ? .objectIsGone : .mergeConflict,
            "\(conflict.object.entity): an object was \(conflict.found == nil ? "deleted" : "changed") since it was read: "
                + location.path,
            objectIDs: [id(of: conflict.object)]
        )
    }

    /// The author, context and process of a save for history.
    static func origin(author: String?, contextName: String?) -> HistoryWriter.Origin {
        // Genuine transactions all have a bundle ID; a program without a bundle uses its process name.
        let process = CommandLine.unsafeArgv.pointee.flatMap {
            String(cString: $0).split(separator: "/").last.map(String.init)
        }
        return HistoryWriter.Origin(
            author: author,
            context: contextName,
            bundle: process,
            process: process
        )
    }

    /// The ID of an object from the writer's key.
    func id(of key: ObjectKey) -> ManagedObjectID {
        ManagedObjectID(family(of: key.entity), primaryKey: key.primaryKey)
    }

    /// The common part of the IDs of an entity's objects.
    func family(of entity: String) -> ManagedObjectID.Family {
        contents.families.family(named: entity)
            ?? ManagedObjectID.Family(entity: entity, root: entity, storeUUID: uuid)
    }

    /// Calls `body` with the writer, which is created on first use.
    func withWriter<R: Sendable>(_ body: (RowWriter, StoreConnection) throws -> R) throws -> R {
        try write { state, connection in
            let writer: RowWriter
            if let known = state.writer {
                writer = known
            } else {
                writer = try RowWriter(
                    connection,
                    layout: contents.layout,
                    external: ExternalDataWriter(
                        location,
                        in: Directory.open(path: location.folder),
                        identifiers: .random()
                    ),
                    recordsHistory: recordsHistory,
                    storeUUID: uuid
                )
                state.writer = writer
            }
            let result = try body(writer, connection)
            keepLogShort(connection)
            return result
        }
    }

    /// SQLite's default for automatic checkpoints, which Core Data's stores use too.
    private static var framesBeforeCheckpoint: Int { 1000 }

    /// Checkpoints a long WAL.
    ///
    /// Automatic checkpoints are off on these connections, because a store that is being moved must not change; a moved
    /// store rejects the saves that would lead here. A coordinator keeps its store open while the program runs, so the
    /// WAL would otherwise grow without limit. The checkpoint is passive, blocks no other connection, and never runs
    /// while this process copies the store. A failed one is retried after a later save.
    private func keepLogShort(_ connection: StoreConnection) {
        guard !connection.hasMoved, let frames = try? connection.framesInLog(), frames > Self.framesBeforeCheckpoint
        else { return }
        try? connection.checkpointPassively()
    }
}
