public import FoundationEssentials
import StoreFormat

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
