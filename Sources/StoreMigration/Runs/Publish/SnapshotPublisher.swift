public import FoundationEssentials
public import Logging
import SafeFiles
public import StoreAccess

/// Publishes proved snapshots of a private store in a group container, for programs that only read.
///
/// The private store stays where it is and is only read. The snapshot is a read-only store in rollback mode, so
/// readers open it with SQLite's `immutable=1` and take no lock: no process can be ended for one when it is suspended. A
/// new snapshot replaces the former one in one step. A reader that still has the former one keeps a whole store, with its
/// external files. Publishing an unchanged store again writes nothing. The remote-change notification beside the snapshot
/// is posted after each publication.
public struct SnapshotPublisher: Sendable {
    private let run: PublishRun
    private let options: PublishOptions
    private let onProgress: (@Sendable (StoreProgress) -> Void)?

    /// Creates a publisher of the store at `store` to the path `destination`.
    public init(
        of store: URL,
        to destination: URL,
        options: PublishOptions = PublishOptions(),
        logger: Logger? = nil,
        onProgress: (@Sendable (StoreProgress) -> Void)? = nil
    ) {
        self.options = options
        self.onProgress = onProgress
        run = PublishRun(
            source: StoreLocation(url: store),
            place: StoreLocation(url: destination),
            selection: options.selection,
            surroundings: Surroundings(
                lockTimeout: options.lockTimeout,
                allowsNetworkFileSystem: options.allowsNetworkFileSystem,
                logger: logger ?? .silent
            )
        )
    }

    /// Publishes the store unless the snapshot has its content; cancelling the task leaves the former snapshot.
    @discardableResult
    public func publish() async throws(MigrationError) -> PublishOutcome {
        try await AsynchronousRun.result { () throws(MigrationError) in try publishAndWait() }
    }

    /// Publishes the store, while the caller waits.
    @discardableResult
    public func publishAndWait(
        isCancelled: (@Sendable () -> Bool)? = nil
    ) throws(MigrationError) -> PublishOutcome {
        try prepared(isCancelled) { try $0.carryOut() }
    }

    /// True if a publication would write a snapshot; writes nothing.
    public func isDue(isCancelled: (@Sendable () -> Bool)? = nil) throws(MigrationError) -> Bool {
        try prepared(isCancelled) { try $0.isDue() }
    }

    private func prepared<Result>(
        _ isCancelled: (@Sendable () -> Bool)?,
        _ body: (PublishRun) throws -> Result
    ) throws(MigrationError) -> Result {
        do {
            if options.becomesOwner { try OldStoreOwner.becomeOwner(ofPlace: run.source.url) }
            var run = run
            run.surroundings.monitor = WorkMonitor(onProgress: onProgress, isCancelled: isCancelled)
            return try body(run)
        } catch {
            throw MigrationError(error)
        }
    }
}
