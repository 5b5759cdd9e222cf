public import FoundationEssentials
public import Logging
import SafeFiles
import StoreBackup
public import StoreFormat

/// Restores a store from a backup, to an empty place or over a store that is kept aside; safe to run again.
///
/// The archive may be a stranger's: it is unpacked into a folder of our own, and only what it was found to hold goes on.
/// From there on a restore is what a share is: staged and proved beside its place, put there in one step, recovered by
/// whoever comes next. Its calls block.
public struct StoreRestorer: Sendable {
    private let place: URL
    private let options: RestoreOptions
    private let logger: Logger
    private let onProgress: (@Sendable (StoreProgress) -> Void)?

    /// Creates a restorer to `place`: a path, or an existing folder in which the store takes its old name.
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

    /// Restores from the archive at `archive`.
    @discardableResult
    public func restore(
        from archive: URL,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) throws(MigrationError) -> RestoreOutcome {
        try restore(isCancelled) { try ArchiveSource(at: archive) }
    }

    /// Restores from a stream, in a tar form; `read` fills a buffer and returns how many bytes it put there, 0 at the end.
    @discardableResult
    public func restore(
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
            // The place's owner may not be able to read what root can.
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
        let isFolder = try parent?.status(of: given.name)?.kind == .directory
        let container = try RunContext.openContainer(
            isFolder ? StoreLocation(folder: given.path, name: given.name) : given
        )
        let unpacked = try UnpackedBackup(source, in: container.path, monitor: monitor)
        let name = isFolder ? unpacked.manifest.store.name : given.name
        return try RestoreRun(
            unpacked: unpacked,
            place: StoreLocation(folder: container.path, name: name),
            options: options,
            monitor: monitor,
            logger: logger
        )
        .run()
    }
}
