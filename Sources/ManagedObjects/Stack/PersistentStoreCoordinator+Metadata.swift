public import StoreFormat
internal import StoreWriting
internal import Synchronization

extension PersistentStoreCoordinator {
    /// The metadata of a store as it is now, with what was set and not yet saved; empty for a store that is not open.
    ///
    /// The consumers of its history are not shown: they are the ``HistoryPruner``'s.
    public func metadata(for store: PersistentStore) -> [String: PropertyListValue] {
        guard let store = self.store(uuid: store.identifier) else { return [:] }
        var values = store.savedMetadata()
        values[HistoryConsumers.metadataKey] = nil
        for (key, value) in store.pendingMetadata.withLock({ $0 }) { values[key] = value }
        return values
    }

    /// Sets keys of an application in the metadata of a store, or removes those without a value; all others stay.
    ///
    /// The next save writes them in its transaction. Keys that are Core Data's own are refused, unless they are given the
    /// value that they have: the metadata may be read, changed and set back. So are those of the history's consumers.
    public func setMetadata(_ changes: [String: PropertyListValue?], for store: PersistentStore) throws {
        guard let store = self.store(uuid: store.identifier) else {
            throw ManagedObjectError(.foreignObject, "the store is not open in this coordinator")
        }
        guard changes[HistoryConsumers.metadataKey] == nil else {
            throw ManagedObjectError(
                .wrongType,
                "the metadata key \(HistoryConsumers.metadataKey) belongs to the consumers of the history; register them"
            )
        }
        let saved = store.savedMetadata()
        let reserved = changes.filter { MetadataWriter.isReserved($0.key) }
        if let changed = reserved.keys.sorted().first(where: { reserved[$0] != .some(saved[$0]) }) {
            throw ManagedObjectError(
                .wrongType,
                "the metadata key \(changed) is Core Data's own; choose another name: \(store.location.path)"
            )
        }
        store.pendingMetadata.withLock { $0.merge(changes.filter { reserved[$0.key] == nil }) { $1 } }
    }
}

extension AttachedStore {
    /// The metadata that the store holds; what it held when it was opened, where it cannot be read now.
    fileprivate func savedMetadata() -> [String: PropertyListValue] {
        let now = try? read { _, connection in try StoreMetadata(reading: connection)?.values }
        return now.flatMap { $0 } ?? contents.metadata.values
    }

    /// Writes metadata that was set and not yet saved, and returns it.
    func writeMetadata(through connection: StoreConnection) throws -> [String: PropertyListValue?] {
        let changes = pendingMetadata.withLock { $0 }
        if !changes.isEmpty { try MetadataWriter.update(changes, in: connection) }
        return changes
    }

    /// Notes that metadata is saved; what was set meanwhile waits for the next save.
    func forgetPendingMetadata(_ written: [String: PropertyListValue?]) {
        pendingMetadata.withLock { pending in
            for (key, value) in written where pending[key] == .some(value) { pending[key] = nil }
        }
    }
}
