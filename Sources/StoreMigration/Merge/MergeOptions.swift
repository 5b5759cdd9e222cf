public import ChangeMerging
public import FoundationEssentials
public import StoreFormat

/// What a caller decides about a merge of two stores; the defaults are the safe choices.
public struct MergeOptions: Sendable {
    /// How conflicts are resolved, and which objects are the same.
    public var settings = MergeSettings()
    /// The common ancestor of both stores; nil if no copy was kept: then only identities match objects.
    public var base: URL?
    /// How far the merged store is proved; plain SQLite stores end at `sqlite`.
    public var level: VerificationLevel = .coredata
    /// How long to wait for each lock.
    public var lockTimeout: Duration = .seconds(20)
    /// The folder of the journal; nil means beside the receiving store.
    public var stateFolder: URL?
    /// Network file systems are refused unless this is true: their locks cannot be trusted.
    public var allowsNetworkFileSystem = false

    public init() {}

    /// These options as those of a share.
    var asShare: ShareOptions {
        var share = ShareOptions()
        share.merging = settings
        share.level = level
        share.lockTimeout = lockTimeout
        share.stateFolder = stateFolder
        share.allowsNetworkFileSystem = allowsNetworkFileSystem
        return share
    }
}
