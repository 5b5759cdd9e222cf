public import FoundationEssentials
public import Logging
import ModelMigration
import SafeFiles
public import StoreFormat

/// Migrates a store in place to another version of its model, as Core Data's lightweight migration does.
///
/// The store is copied, migrated and proved beside its path. Then one transaction replaces its content, and a copy of the
/// former store is kept. Running again changes nothing; an interrupted migration is finished or rolled back by the next
/// run, or by ``Recovery``.
public struct LightweightMigrator: Sendable {
    private let store: URL
    private let model: URL
    private let version: String?
    private let options: LightweightMigrationOptions
    private let logger: Logger
    private let onProgress: (@Sendable (StoreProgress) -> Void)?

    /// Creates a migrator of `store` to the model at `model`: a model file, a folder of versions, or a store.
    ///
    /// `version` names a version of the folder; the default is its current one.
    public init(
        of store: URL,
        to model: URL,
        version: String? = nil,
        options: LightweightMigrationOptions = LightweightMigrationOptions(),
        logger: Logger? = nil,
        onProgress: (@Sendable (StoreProgress) -> Void)? = nil
    ) {
        self.store = store
        self.model = model
        self.version = version
        self.options = options
        self.logger = logger ?? .silent
        self.onProgress = onProgress
    }

    /// Decides what a migration would do, and writes nothing.
    ///
    /// Throws for a store or a model that cannot be read, and for a store that a migration could not write; a mapping that
    /// cannot be inferred is a verdict.
    public func forecast() async throws(MigrationError) -> MigrationForecast {
        try await AsynchronousRun.result { () throws(MigrationError) in try forecastAndWait() }
    }

    /// Decides what a migration would do, while the caller waits.
    public func forecastAndWait(
        isCancelled: (@Sendable () -> Bool)? = nil
    ) throws(MigrationError) -> MigrationForecast {
        try run(isCancelled) { try $0.dryRun() }
    }

    /// Migrates the store unless it has the model version; cancelling the task stops it where that leaves nothing behind.
    ///
    /// Throws `incompatible` with every reason when no mapping can be inferred; nothing is changed then.
    @discardableResult
    public func migrate() async throws(MigrationError) -> LightweightMigrationOutcome {
        try await AsynchronousRun.result { () throws(MigrationError) in try migrateAndWait() }
    }

    /// Migrates the store, while the caller waits.
    @discardableResult
    public func migrateAndWait(
        isCancelled: (@Sendable () -> Bool)? = nil
    ) throws(MigrationError) -> LightweightMigrationOutcome {
        try run(isCancelled) { try $0.run() }
    }

    private func run<Result>(
        _ isCancelled: (@Sendable () -> Bool)?,
        _ body: (LightweightMigrationRun) throws -> Result
    ) throws(MigrationError) -> Result {
        do {
            // Reads the model as root: the store's owner may lack read access to it.
            let target = try MigrationTarget.named(model.path, version: version, lockTimeout: options.lockTimeout)
            if options.becomesOwner { try OldStoreOwner.becomeOwner(ofPlace: store) }
            return try body(
                LightweightMigrationRun(
                    place: StoreLocation(url: store),
                    target: target,
                    surroundings: Surroundings(
                        lockTimeout: options.lockTimeout,
                        allowsNetworkFileSystem: options.allowsNetworkFileSystem,
                        monitor: WorkMonitor(onProgress: onProgress, isCancelled: isCancelled),
                        logger: logger
                    )
                )
            )
        } catch {
            throw MigrationError(error)
        }
    }
}

extension MigrationTarget {
    /// Reads the model or store that a caller names.
    static func named(_ path: String, version: String?, lockTimeout: Duration) throws -> MigrationTarget {
        do {
            return try MigrationTarget(path: path, version: version, lockTimeout: lockTimeout)
        } catch let error as StoreError where [.incompatible, .notFound].contains(error.code) {
            throw MigrationError(
                .usage,
                "cannot read the model: \(error.message)",
                path: error.path,
                advice: "Name a .momd, .mom, .xcdatamodeld or .xcdatamodel, or a store of the wanted version.",
                underlyingError: error
            )
        }
    }
}
