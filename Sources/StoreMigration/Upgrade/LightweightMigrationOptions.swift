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
