public import FoundationEssentials
public import Logging
import SafeFiles
public import StoreAccess
public import StoreBackup
public import StoreVerification

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
        let isFolder = try place.hasDirectoryPath || given.isFolder()
        let container = try RunContext.openContainer(
            isFolder ? StoreLocation(folder: given.path, name: given.name) : given
        )
        try SupportFolderOwners.requireNone(at: container.path)
        // The name in the archive is not known yet; the run checks it.
        if !isFolder { try container.requireRoom(forDisplacing: given) }
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

/// What a caller decides about a restore; the defaults are the safe choices.
public struct RestoreOptions: Sendable {
    /// When an existing store may be replaced; a copy of it is kept.
    public enum OverwritePolicy: String, Sendable, Codable, CaseIterable {
        case never
        case always
        /// Only when the existing store is provably an earlier state of the store in the backup.
        case ifOlder = "if-older"
    }

    public var overwrite: OverwritePolicy = .never
    /// True to replace a store of another UUID or kind.
    public var allowsOtherStore = false
    /// True to restore a store whose model the destination, or the caller's programs, do not know.
    public var allowsOtherModel = false
    /// The model file that the caller's programs carry.
    public var modelFile: URL?
    /// How long to wait for each lock.
    public var lockTimeout: Duration = .seconds(20)
    /// Network file systems are refused unless this is true: their locks cannot be trusted.
    public var allowsNetworkFileSystem = false
    /// True for a program that root may run: after opening the archive it becomes the destination's owner for good.
    public var becomesOwner = false

    public init() {}
}

/// How a restore ended, with its proof and all paths.
public struct RestoreOutcome: Sendable {
    /// `restored`.
    public let outcome: MigrationOutcome
    /// The transaction ID; nil when the destination already had the backup's content.
    public let transaction: String?
    /// The store's main file.
    public let path: String
    /// The archive's manifest, checked against its content.
    public let manifest: BackupManifest
    /// The folder with the replaced store's files; nil when there was none.
    public let keptAside: String?
    /// The proof; nil when nothing was written.
    public let report: VerificationReport?
    public let findings: [Finding]
    /// One sentence that says why it ended this way.
    public let message: String
}
