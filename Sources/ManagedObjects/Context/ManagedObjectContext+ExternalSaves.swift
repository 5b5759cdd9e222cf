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

/// What tells that somebody committed to a store.
struct ExternalVersion: Hashable, Sendable {
    /// Raised when another connection than the one that writes here commits.
    let byOthers: Int64
    /// Raised when any connection commits; only set when the one that writes could not be asked.
    var byAnybody: Int64?
}

extension PersistentStoreCoordinator {
    /// What changes in each store whenever somebody else commits to it.
    func externalVersions() throws -> [String: ExternalVersion] {
        var result: [String: ExternalVersion] = [:]
        for store in stores { result[store.uuid] = try store.externalVersion() }
        return result
    }

    /// The same as it was when each store was opened.
    func openedVersions() -> [String: ExternalVersion] {
        var result: [String: ExternalVersion] = [:]
        for store in stores { result[store.uuid] = store.openingVersion.withLock { $0 } }
        return result
    }
}

extension AttachedStore {
    private static let versionSQL = "PRAGMA data_version"

    /// What changes when others commit; a save of this process that waits for its lock is not waited for.
    ///
    /// While one is under way, a save of this process that came between is taken for one of somebody else: at worst what is
    /// shown is read once more.
    func externalVersion() throws -> ExternalVersion {
        guard readOnlyReason == nil else {
            return try read { _, connection in
                ExternalVersion(byOthers: try connection.value(Self.versionSQL)?.integer ?? 0)
            }
        }
        let byAnybody = try watching.withLock { watching in
            let connection = try watching ?? StoreConnection(location, access: .liveReading, lockTimeout: lockTimeout)
            watching = connection
            return try connection.value(Self.versionSQL)?.integer ?? 0
        }
        let byOthers = try writing.withLockIfAvailable { state in
            try openToWrite(&state).value(Self.versionSQL)?.integer ?? 0
        }
        return lastVersion.withLock { last in
            guard let byOthers else {
                guard let last else { return ExternalVersion(byOthers: 0, byAnybody: byAnybody) }
                return ExternalVersion(
                    byOthers: last.byOthers,
                    byAnybody: byAnybody == last.byAnybody ? nil : byAnybody
                )
            }
            last = ExternalVersion(byOthers: byOthers, byAnybody: byAnybody)
            return ExternalVersion(byOthers: byOthers)
        }
    }
}
