internal import SafeFiles

/// Inspects a path without changing a byte of the store.
public struct StoreInspector: BlockingCalls {
    /// The extent of an inspection.
    public enum Depth: Sendable {
        /// Header, metadata, model and fence. Nothing is counted: every number of rows is 0.
        case layout
        /// The number of rows of every entity and table as well.
        case counts
        /// The content digest as well.
        case digest
    }

    let depth: Depth
    let monitor: WorkMonitor
    /// False to only count external files: there may be very many.
    let listsExternalFiles: Bool
    private let lockTimeout: Duration
    private let reader: StoreReader

    /// Creates an inspector that waits for locks no longer than `lockTimeout`.
    ///
    /// Large stores take a while: progress is reported, and `isCancelled` called, periodically.
    public init(
        depth: Depth = .counts,
        lockTimeout: Duration = .seconds(20),
        allowsNetworkFileSystem: Bool = false,
        onProgress: (@Sendable (StoreProgress) -> Void)?,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) {
        self.init(
            depth: depth,
            lockTimeout: lockTimeout,
            allowsNetworkFileSystem: allowsNetworkFileSystem,
            monitor: WorkMonitor(onProgress: onProgress, isCancelled: isCancelled)
        )
    }

    package init(
        depth: Depth = .counts,
        lockTimeout: Duration = .seconds(20),
        allowsNetworkFileSystem: Bool = false,
        listsExternalFiles: Bool = true,
        monitor: WorkMonitor = .silent
    ) {
        self.depth = depth
        self.listsExternalFiles = listsExternalFiles
        self.monitor = monitor
        self.lockTimeout = lockTimeout
        reader = StoreReader(
            lockTimeout: lockTimeout,
            allowsNetworkFileSystem: allowsNetworkFileSystem,
            monitor: monitor
        )
    }

    /// Inspects a path; a store that cannot be read is a result, not an error.
    ///
    /// Throws if the work was cancelled, or failed for a reason that does not concern the store.
    public func inspect(_ location: StoreLocation) throws -> StoreCondition {
        do {
            let folder = try VettedFile.folder(of: location)
            if let condition = try condition(withoutContent: location, in: folder) { return condition }
            return .store(try reader.withView(of: location) { try inspection(of: location, through: $0) })
        } catch let error as UnreadableStore {
            return .unreadable(error)
        } catch let error as StoreError {
            if error.code == .notFound { return .absent }
            if error.code == .emptyFile { return .emptyFile }
            if let unreadable = UnreadableStore(error) { return .unreadable(unreadable) }
            // SQLite rejects the store's own definitions: an unknown format, or a schema that contradicts itself.
            guard error.code == .failed, error.path == location.path else { throw error }
            return .unreadable(UnreadableStore(.damaged, path: error.path, detail: error.message))
        } catch let error as FileError {
            // The kernel rejects a file of the store, or its folder.
            guard let unreadable = UnreadableStore.error(for: error, path: error.path) as? UnreadableStore else {
                throw error
            }
            return .unreadable(unreadable)
        }
    }

    /// The condition if the main file is missing or empty, without opening it; nil otherwise.
    ///
    /// An empty file beside a journal may be a store whose first transaction is being written. Its writer holds a lock
    /// then, and is awaited. Otherwise both are checked twice, because the transaction may have ended in between.
    private func condition(withoutContent location: StoreLocation, in folder: Directory) throws -> StoreCondition? {
        let deadline = Deadline(after: lockTimeout)
        let wait = BusyWait(deadline: deadline)
        wait.begin(until: deadline, monitor)
        var isSeen = false
        while true {
            let status = try folder.status(of: location.name)
            if let status, let refusal = UnreadableStore(refusing: status, path: location.path) { throw refusal }
            guard (status?.size ?? 0) == 0 else { return nil }
            let orphans = try [location.writeAheadLogName, location.journalName]
                .filter {
                    try folder.status(of: $0).map { $0.size > 0 } ?? false
                }
            guard !orphans.isEmpty else { return status == nil ? .absent : .emptyFile }
            guard let status else { return .orphanSidecar(names: orphans) }
            let writers = try OpenFiles.lockHolders(of: status.identity)
            if writers.isEmpty, isSeen { return .orphanSidecar(names: orphans) }
            isSeen = writers.isEmpty
            guard writers.isEmpty || wait.step() else {
                try monitor.checkCancellation()
                throw UnreadableStore(
                    .locked,
                    path: location.path,
                    detail: "its first transaction is being written by process "
                        + writers.map(String.init).joined(separator: ", ")
                )
            }
        }
    }
}
