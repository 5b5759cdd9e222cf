public import FoundationEssentials
public import Logging
import SafeFiles
import StoreBackup
public import StoreFormat

/// Restores a store from a backup, to a vacant path or over a store of which a copy is kept; safe to run again.
///
/// The archive is untrusted: it is unpacked into a private folder, and only checked content goes on. The rest is a
/// share: staged and proved beside the destination, published in one step, recovered by the next run.
public struct StoreRestorer: Sendable {
    private let place: URL
    private let options: RestoreOptions
    private let logger: Logger
    private let onProgress: (@Sendable (StoreProgress) -> Void)?

    /// Creates a restorer to `place`: a path, or an existing folder, in which the store keeps its name.
    public init(
        to place: URL,
        options: RestoreOptions = RestoreOptions(),
        logger: Logger? = nil,
        onProgress: (@Sendable (StoreProgress) -> Void)? = nil
    ) {
        self.place = place
        self.options = options
        self.logger = logger ?? .silent
        self.onProgress = onProgress
    }

    /// Restores from the archive at `archive`; cancelling the task stops it where that leaves nothing behind.
    @discardableResult
    public func restore(from archive: URL) async throws(MigrationError) -> RestoreOutcome {
        try await AsynchronousRun.result { () throws(MigrationError) in try restoreAndWait(from: archive) }
    }

    /// Restores from the archive at `archive`, while the caller waits.
    @discardableResult
    public func restoreAndWait(
        from archive: URL,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) throws(MigrationError) -> RestoreOutcome {
        try restore(isCancelled) { try ArchiveSource(at: archive) }
    }

    /// Restores from a tar stream; `read` fills a buffer and returns the number of bytes, 0 at the end.
    @discardableResult
    public func restore(
        reading read: @escaping @Sendable (UnsafeMutableRawBufferPointer) throws -> Int
    ) async throws(MigrationError) -> RestoreOutcome {
        try await AsynchronousRun.result { () throws(MigrationError) in try restoreAndWait(reading: read) }
    }

    /// Restores from a tar stream, while the caller waits.
    @discardableResult
    public func restoreAndWait(
        reading read: @escaping (UnsafeMutableRawBufferPointer) throws -> Int,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) throws(MigrationError) -> RestoreOutcome {
        try restore(isCancelled) { ArchiveSource(stream: "-", read: read) }
    }

    private func restore(
        _ isCancelled: (@Sendable () -> Bool)?,
        _ open: () throws -> ArchiveSource
    ) throws(MigrationError) -> RestoreOutcome {
        do {
            // Opens the archive as root: the destination's owner may lack read access to it.
            let source = try open()
            if options.becomesOwner { try OldStoreOwner.becomeOwner(ofPlace: place) }
            return try restore(source, WorkMonitor(onProgress: onProgress, isCancelled: isCancelled))
        } catch {
            throw MigrationError(error)
        }
    }

    private func restore(_ source: ArchiveSource, _ monitor: WorkMonitor) throws -> RestoreOutcome {
        let given = StoreLocation(url: place)
        let parent = try? Directory.open(path: given.folder)
        let isFolder = try place.hasDirectoryPath || parent?.status(of: given.name)?.kind == .directory
        let container = try RunContext.openContainer(
            isFolder ? StoreLocation(folder: given.path, name: given.name) : given
        )
        let unpacked = try UnpackedBackup(source, in: container.path, monitor: monitor)
        let name = isFolder ? unpacked.manifest.store.name : given.name
        return try RestoreRun(
            unpacked: unpacked,
            place: StoreLocation(folder: container.path, name: name),
            options: options,
            surroundings: Surroundings(
                lockTimeout: options.lockTimeout,
                allowsNetworkFileSystem: options.allowsNetworkFileSystem,
                monitor: monitor,
                logger: logger
            )
        )
        .run()
    }
}
