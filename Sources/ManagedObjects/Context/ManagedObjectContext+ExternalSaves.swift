internal import StoreFormat
internal import Synchronization

extension ManagedObjectContext {
    /// Shows what other processes saved: to be called when one of them has said that it did.
    ///
    /// Rows are read anew, whatever was cached; what was changed here and not saved survives. When nobody else wrote to any
    /// store since the last call, nothing is refreshed and no row is read. Returns whether anything was.
    @discardableResult
    public func viewContextDidSaveExternally() throws -> Bool {
        let versions = try persistentStoreCoordinator.externalVersions()
        guard versions != graph.externalVersions ?? persistentStoreCoordinator.openedVersions() else { return false }
        // Observers look when the interval is their own again, and so at rows that were read once.
        try graph.refreshAllObjects(maximumAge: .zero)
        graph.externalVersions = versions
        try graph.processPendingChanges()
        return true
    }
}

extension PersistentStoreCoordinator {
    /// What changes in each store whenever somebody else commits to it.
    func externalVersions() throws -> [String: Int64] {
        var result: [String: Int64] = [:]
        for store in stores { result[store.uuid] = try store.externalVersion() }
        return result
    }

    /// The same as it was when each store was opened.
    func openedVersions() -> [String: Int64] {
        Dictionary(stores.map { ($0.uuid, $0.openedVersion) }) { first, _ in first }
    }
}

extension AttachedStore {
    /// Raised by SQLite when another connection than the one that writes here has committed.
    func externalVersion() throws -> Int64 {
        let sql = "PRAGMA data_version"
        guard readOnlyReason == nil else {
            return try read { _, connection in try connection.value(sql)?.integer ?? 0 }
        }
        return try write { _, connection in try connection.value(sql)?.integer ?? 0 }
    }

    var openedVersion: Int64 { openingVersion.withLock { $0 } }
}
