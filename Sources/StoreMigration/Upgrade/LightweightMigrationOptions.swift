import Logging
import StoreFormat
import StoreVerification

/// What a caller decides about a migration in place.
public struct LightweightMigrationOptions: Sendable {
    /// How long to wait for each lock.
    public var lockTimeout: Duration = .seconds(20)
    /// Network file systems are refused unless this is true: their locks cannot be trusted.
    public var allowsNetworkFileSystem = false
    /// True for a program that root may run: after reading the model it becomes the store's owner for good.
    public var becomesOwner = false

    public init() {}

    /// A migration writes its journal beside the store.
    func surroundings(_ monitor: WorkMonitor, _ logger: Logger) -> Surroundings {
        Surroundings(
            lockTimeout: lockTimeout,
            allowsNetworkFileSystem: allowsNetworkFileSystem,
            stateFolder: nil,
            monitor: monitor,
            logger: logger
        )
    }

    /// The displaced files keep the former content, and the level `merging` needs programs with the new model.
    static let runSettings = RunSettings(treatment: .capture, onBoth: .keepOld, level: .content)
    /// For the recovery of another command's run: what a share left undecided is not decided by a migration.
    static let recoverySettings = RunSettings(treatment: .capture, level: .content)
}
