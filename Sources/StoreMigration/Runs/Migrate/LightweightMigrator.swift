public import FoundationEssentials
public import Logging
public import ModelMigration
import SafeFiles
public import StoreAccess
public import StoreVerification

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

/// What a caller decides about a migration in place.
public struct LightweightMigrationOptions: Sendable {
    /// How long to wait for each lock.
    public var lockTimeout: Duration = .seconds(20)
    /// Network file systems are refused unless this is true: their locks cannot be trusted.
    public var allowsNetworkFileSystem = false
    /// True for a program that root may run: after reading the model it becomes the store's owner for good.
    public var becomesOwner = false

    public init() {}
}

/// How a migration in place ended, with its proof and all paths.
public struct LightweightMigrationOutcome: Sendable {
    /// `migrated`.
    public let outcome: MigrationOutcome
    /// The transaction ID; nil when the store already had the model version.
    public let transaction: String?
    /// The store's main file.
    public let path: String
    public let target: MigrationTarget
    /// What was carried out; without changes when the store had the version.
    public let mapping: InferredMapping?
    /// The tables whose rows were copied, and those that were changed in their pages.
    public let copiedTables: [String]
    public let extendedTables: [String]
    /// The external files that no row referred to any more, and that were removed; the kept copy has them.
    public let removedFiles: [String]
    /// The folder with the store as it was; nil when nothing was written.
    public let keptAside: String?
    /// The proof; nil when nothing was written.
    public let report: VerificationReport?
    public let findings: [Finding]
    /// One sentence that says why it ended this way.
    public let message: String
}

extension Finding.Code {
    /// Another process has the store open; with its former model it cannot open the migrated store again.
    public static let storeOpen = Finding.Code(rawValue: "storeOpen")
    /// No mapping can be inferred, or the store's rows forbid the migration.
    public static let mappingRefused = Finding.Code(rawValue: "mappingRefused")
}

/// What a migration of a store to a model version would do, decided without changing anything.
public struct MigrationForecast: Sendable {
    /// What Core Data would say when it opens the store with the model.
    public enum Verdict: String, Sendable, CaseIterable {
        /// The store has the model version already.
        case compatible
        /// A mapping is inferred, and no row of the store forbids it.
        case inferred
        /// No mapping can be inferred, or rows forbid it.
        case refused
    }

    public let verdict: Verdict
    /// The path of the store.
    public let path: String
    public let target: MigrationTarget
    /// The mapping; nil if none can be inferred.
    public let mapping: InferredMapping?
    /// Every reason for a refusal, with Core Data's error code.
    public let refusals: [MappingRefusal]
    /// What the store has and the target model has no place for.
    let lostValues: [LostValues]
    /// The other processes that have the store open, as far as this user can see them.
    public let holders: [Int32]

    /// One finding for each refusal, then what would be lost, then one for the processes that have the store open.
    public var findings: [Finding] {
        refusals.findings(at: path) + lostValues.findings(at: path) + Finding.open(in: holders, at: path)
    }

    /// The error of a run with this verdict; nil if the migration is possible.
    var error: MigrationError? {
        refusals.isEmpty ? nil : MigrationError(refusals, path: path, findings: findings)
    }
}
