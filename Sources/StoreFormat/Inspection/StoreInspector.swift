internal import SafeFiles
public import StoreAccess
internal import SystemPackage

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
            return .store(try reader.read(location) { try inspection(of: location, through: $0) })
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
        let wait = BusyWait(until: Deadline(after: lockTimeout), monitor)
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

extension StoreInspector {
    /// Returns every SQLite store in a folder, recognised by its first bytes regardless of its name; sidecars do not
    /// count.
    ///
    /// The relay beside a store does not count either. Files that this user cannot read are skipped.
    public static func stores(in folder: String) throws -> [StoreLocation] {
        let directory = try VettedFile.folder(of: StoreLocation(folder: folder, name: ""))
        let names = try directory.entries()
        let known = Set(names)
        let relays = Set(names.map { StoreLocation(folder: folder, name: $0).relayName })
        return names.filter { !StoreFileListing.isSidecar($0, of: known) && !relays.contains($0) }
            .map { StoreLocation(folder: folder, name: $0) }
            .filter { (try? $0.isStore(in: directory)) == true }
    }

    /// The store to whose external files the folder at a path belongs; nil for any other folder.
    package static func owner(ofExternalFolder path: String) -> StoreLocation? {
        // A link may lead into such a folder.
        var folder = FilePath((try? Directory.open(path: path))?.path ?? path)
        while let name = folder.lastComponent?.string {
            folder.removeLastComponent()
            guard name.hasSuffix(StoreLocation.supportFolderEnd), let stores = try? stores(in: folder.string) else {
                continue
            }
            if let owner = stores.first(where: { $0.supportFolderName == name }) { return owner }
        }
        return nil
    }

    /// True if the path is a folder that this user can open.
    public static func isFolder(_ path: String) -> Bool {
        (try? Directory.open(path: path)) != nil
    }
}

extension StoreInspector {
    /// Inspects the store of a view.
    package func inspection(of location: StoreLocation, through view: StoreView) throws -> StoreInspection {
        let connection = view.connection
        let listing = try StoreFileListing(of: location, view: view, listsExternalFiles: listsExternalFiles)
        let fence = try StoreFence(reading: connection)
        let content = try ContentSummary(of: connection, counts: depth != .layout, monitor: monitor)
        let digest =
            depth == .digest
            ? try StoreDigest(of: connection, externalData: view.externalData, monitor: monitor) : nil
        return StoreInspection(
            location: location,
            kind: content.kind,
            header: view.header,
            identity: view.status.identity,
            token: view.token,
            mode: view.status.mode,
            owner: view.status.owner,
            group: view.status.group,
            files: listing.files,
            metadata: content.metadata,
            model: content.model,
            modelSource: content.modelSource,
            entities: content.entities,
            joinTables: content.joinTables,
            tables: content.tables,
            history: content.history,
            fence: fence,
            digest: digest,
            findings: listing.findings + content.findings,
            historyTables: content.historyTables,
            externalFiles: listing.externalFiles,
            annotations: content.annotations
        )
    }
}
