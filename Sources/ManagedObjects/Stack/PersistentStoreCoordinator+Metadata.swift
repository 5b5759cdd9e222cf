public import StoreFormat
internal import StoreWriting
internal import Synchronization

extension PersistentStoreCoordinator {
    /// The current metadata of a store, with unsaved changes; empty for a store that is not open.
    ///
    /// Excludes the history's consumers, which belong to ``HistoryPruner``.
    public func metadata(for store: PersistentStore) -> [String: PropertyListValue] {
        guard let store = self.store(uuid: store.identifier) else { return [:] }
        var values = store.savedMetadata()
        values[HistoryConsumers.metadataKey] = nil
        for (key, value) in store.pendingMetadata.withLock({ $0 }) { values[key] = value }
        return values
    }

    /// Sets an application's keys in the metadata of a store, removes keys without a value, and leaves all others
    /// unchanged.
    ///
    /// The next save writes them in its transaction. Throws for a key reserved for Core Data, unless its value is
    /// unchanged, so that metadata can be read, changed and set again. Throws for the key of the history's consumers
    /// too.
    public func setMetadata(_ changes: [String: PropertyListValue?], for store: PersistentStore) throws {
        guard let store = self.store(uuid: store.identifier) else {
            throw ManagedObjectError(.foreignObject, "the store is not open in this coordinator")
        }
        guard changes[HistoryConsumers.metadataKey] == nil else {
            throw ManagedObjectError(
                .wrongType,
                "the metadata key \(HistoryConsumers.metadataKey) is reserved for history consumers; use HistoryPruner"
            )
        }
        let saved = store.savedMetadata()
        let reserved = changes.filter { MetadataWriter.isReserved($0.key) }
        if let changed = reserved.keys.sorted().first(where: { reserved[$0] != .some(saved[$0]) }) {
            throw ManagedObjectError(
                .wrongType,
                "the metadata key \(changed) is reserved for Core Data; choose another name: \(store.location.path)"
            )
        }
        store.pendingMetadata.withLock { $0.merge(changes.filter { reserved[$0.key] == nil }) { $1 } }
    }
}

extension AttachedStore {
    /// The stored metadata; if it cannot be read now, the metadata as of the opening.
    fileprivate func savedMetadata() -> [String: PropertyListValue] {
        let now = try? read { _, connection in try StoreMetadata(reading: connection)?.values }
        return now.flatMap { $0 } ?? contents.metadata.values
    }

    /// Writes unsaved metadata and returns it.
    func writeMetadata(through connection: StoreConnection) throws -> [String: PropertyListValue?] {
        let changes = pendingMetadata.withLock { $0 }
        if !changes.isEmpty { try MetadataWriter.update(changes, in: connection) }
        return changes
    }

    /// Removes saved metadata from the pending changes; values set since then wait for the next save.
    func forgetPendingMetadata(_ written: [String: PropertyListValue?]) {
        pendingMetadata.withLock { pending in
            for (key, value) in written where pending[key] == .some(value) { pending[key] = nil }
        }
    }
}
