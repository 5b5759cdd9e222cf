internal import StoreAccess
internal import Synchronization

extension ManagedObjectContext {
    /// Refreshes the context after saves of other processes; call it when another process reports a save.
    ///
    /// Reads rows from the store and ignores cached rows. Unsaved changes survive. If no other process wrote to a store
    /// since the last call, refreshes nothing and reads no row. Returns whether anything was refreshed.
    @discardableResult
    public func viewContextDidSaveExternally() throws -> Bool {
        let versions = try persistentStoreCoordinator.externalVersions()
        guard versions != graph.externalVersions ?? persistentStoreCoordinator.openedVersions() else { return false }
        // Maximum age zero only for this call: observers run with the context's own staleness interval and reuse these
        // rows.
        try graph.refreshAllObjects(maximumAge: .zero)
        graph.externalVersions = versions
        try graph.processPendingChanges()
        return true
    }
}

/// A value that changes when another process commits to a store.
struct ExternalVersion: Hashable, Sendable {
    /// The generation of the connections that report the other values.
    let generation: Int64
    /// Changes when a connection other than this process's writer commits.
    let byOthers: Int64
    /// Changes when any connection commits; set only while the writing connection is busy.
    var byAnybody: Int64?
}

extension PersistentStoreCoordinator {
    /// The current version of each store, which changes when another process commits.
    func externalVersions() throws -> [String: ExternalVersion] {
        var result: [String: ExternalVersion] = [:]
        for store in stores { result[store.uuid] = try store.externalVersion() }
        return result
    }

    /// The version of each store when it was opened.
    func openedVersions() -> [String: ExternalVersion] {
        var result: [String: ExternalVersion] = [:]
        for store in stores { result[store.uuid] = store.openingVersion.withLock { $0 } }
        return result
    }
}

extension AttachedStore {
    private static let versionSQL = "PRAGMA data_version"

    /// The store's version, without waiting for a save of this process that holds the writer.
    ///
    /// During such a save, earlier saves of this process may count as another process's: at worst objects are read once
    /// more.
    func externalVersion() throws -> ExternalVersion {
        guard readOnlyReason == nil else {
            return try read { _, connection in
                ExternalVersion(
                    generation: self.generation.load(ordering: .relaxed),
                    byOthers: try connection.value(Self.versionSQL)?.integer ?? 0
                )
            }
        }
        let (byAnybody, watched) = try watching.withLock { watching in
            try suspension.requireResumed(location)
            let connection = try watching ?? openToRead()
            watching = connection
            return (try connection.value(Self.versionSQL)?.integer ?? 0, self.generation.load(ordering: .relaxed))
        }
        let written = try writing.withLockIfAvailable { state in
            (try openToWrite(&state).value(Self.versionSQL)?.integer ?? 0, self.generation.load(ordering: .relaxed))
        }
        // Both connections count: the sum changes when one of them is opened anew.
        let opened = watched &+ (written?.1 ?? watched)
        return lastVersion.withLock { last in
            guard let byOthers = written?.0 else {
                guard let last, last.generation == opened else {
                    return ExternalVersion(generation: opened, byOthers: 0, byAnybody: byAnybody)
                }
                return ExternalVersion(
                    generation: opened,
                    byOthers: last.byOthers,
                    byAnybody: byAnybody == last.byAnybody ? nil : byAnybody
                )
            }
            last = ExternalVersion(generation: opened, byOthers: byOthers, byAnybody: byAnybody)
            return ExternalVersion(generation: opened, byOthers: byOthers)
        }
    }
}
