public import FoundationEssentials
public import Logging
import SafeFiles
public import StoreFormat
public import StoreVerification

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

/// The part of a Core Data store that a snapshot has.
///
/// The model stays, so that readers open the snapshot with theirs. Objects of an entity go with those of its subentities,
/// and relationships to them become empty.
public struct SnapshotSelection: Hashable, Sendable, Codable {
    /// The entities whose objects are published; empty for all.
    public var only: Set<String>
    /// What is left out: entities as `Entity`, attributes as `Entity.attribute`.
    public var without: Set<String>

    public init(only: Set<String> = [], without: Set<String> = []) {
        (self.only, self.without) = (only, without)
    }

    /// True if nothing is left out.
    public var isWhole: Bool { only.isEmpty && without.isEmpty }
}

/// How a publication ended, with its proof and all paths.
public struct PublishOutcome: Sendable {
    /// `published`, or `alreadyPublished` when the store has not changed since.
    public let outcome: MigrationOutcome
    /// The path of the private store.
    public let source: String
    /// The path of the snapshot.
    public let path: String
    /// The content digest of the snapshot.
    public let digest: String?
    /// The bytes of the snapshot's main file and of the external files that were copied; 0 when nothing was written.
    public let bytes: Int64
    /// The external files that were copied now.
    public let externalFiles: Int
    /// The part of the store that is published.
    public let selection: SnapshotSelection
    /// The objects that were left out now; 0 when nothing was written.
    public let objectsLeftOut: Int64
    /// The former snapshots that readers still have open; a later publication removes them.
    public let openFormerSnapshots: Int
    /// The proof; nil when nothing was written.
    public let report: VerificationReport?
    public let findings: [Finding]
}

/// What a caller decides about a publication.
public struct PublishOptions: Sendable {
    /// How long to wait for each lock.
    public var lockTimeout: Duration = .seconds(20)
    /// The part of the store to publish.
    public var selection = SnapshotSelection()
    /// Network file systems are refused unless this is true: their locks cannot be trusted.
    public var allowsNetworkFileSystem = false
    /// True for a program that root may run: it becomes the store's owner for good.
    public var becomesOwner = false

    public init() {}
}
