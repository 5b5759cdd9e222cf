import StoreFormat

/// The caller's options for a backup.
public struct BackupOptions: Sendable {
    public var form = BackupForm.standard
    /// How long to wait for each lock.
    public var lockTimeout: Duration = .seconds(20)
    /// Network file systems are refused unless this is true: their locks cannot be trusted.
    public var allowsNetworkFileSystem = false
    /// The name and version of the program, for the manifest.
    public var tool = "store-migrate"

    public init() {}
}
