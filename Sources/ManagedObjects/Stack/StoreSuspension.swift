internal import SafeFiles
internal import StoreFormat
internal import Synchronization

/// Whether the stores of one coordinator may be used, or are closed because the process is about to be suspended.
final class StoreSuspension: Sendable {
    private let suspended = Atomic(false)
    /// Posts when the stores may be used again.
    let resumed = ChangeHub<Void>()

    var isSuspended: Bool { suspended.load(ordering: .acquiring) }
    func begin() { suspended.store(true, ordering: .sequentiallyConsistent) }

    func end() {
        guard suspended.exchange(false, ordering: .sequentiallyConsistent) else { return }
        resumed.post(())
    }

    /// Throws while the stores are suspended.
    func requireResumed(_ location: StoreLocation? = nil) throws {
        guard !isSuspended else {
            let path = location.map { ": \($0.path)" } ?? ""
            throw ManagedObjectError(
                .suspended,
                "the stores are closed for the suspension of this process; call resumeAfterSuspension() first" + path
            )
        }
    }
}

extension PersistentContainer {
    /// Closes all stores before the system suspends the process, so that it holds no lock on a file of a group container.
    ///
    /// iOS ends a process that is suspended with such a lock (`0xdead10cc`). Call this when the app enters the background
    /// and in an extension before its work ends. It waits for a running save, ends running fetches with an error, checkpoints
    /// nothing, closes every connection, and releases the names of consumers. Until ``resumeAfterSuspension()``, calls
    /// that need a store throw ``ManagedObjectError/Code/suspended``; objects keep the values that they have read and
    /// their unsaved changes. `StoreMigration`'s `SuspensionCheck` shows the locks that a process holds.
    public func prepareForSuspension() async {
        let coordinator = persistentStoreCoordinator
        coordinator.suspension.begin()
        for merger in mergers.withLock({ Array($0.values) }) { await merger.suspend() }
        for store in coordinator.stores { await store.closeForSuspension() }
    }

    /// Lets the stores be used again; each is opened by the next call that needs it.
    ///
    /// Observers of remote changes are called once, and ``followRemoteChanges(into:as:_:)`` merges what other processes
    /// have saved meanwhile. Does nothing without ``prepareForSuspension()``.
    public func resumeAfterSuspension() { persistentStoreCoordinator.suspension.end() }
}

extension AttachedStore {
    /// Waits for running calls and closes all connections, off the cooperative pool.
    fileprivate func closeForSuspension() async {
        try? await BlockingCall.run { () throws(any Error) in
            close()
            poster?.close()
        }
    }
}
