public import FoundationEssentials
import StoreFormat

/// What a caller decides about a restore; the defaults are the safe choices.
public struct RestoreOptions: Sendable {
    /// When a store that is there may be replaced; it is kept aside whole.
    public enum OverwritePolicy: String, Sendable, Codable, CaseIterable {
        case never
        case always
        /// Only where the store can be told to be an earlier state of the one in the backup.
        case ifOlder = "if-older"
    }

    public var overwrite: OverwritePolicy = .never
    /// True to replace a store of another UUID or kind.
    public var allowsOtherStore = false
    /// True to restore a store of a model that the place, or the caller's programs, do not know.
    public var allowsOtherModel = false
    /// The file of the model that the caller's programs carry.
    public var modelFile: URL?
    /// How long to wait for each lock.
    public var lockTimeout: Duration = .seconds(20)
    /// Network file systems are refused unless this is true: their locks cannot be trusted.
    public var allowsNetworkFileSystem = false
    /// True for a program that root may run: it becomes the place's owner for good, once it has opened the archive.
    public var becomesOwner = false

    public init() {}

    /// What the parts of a share are told, which carry out a restore.
    var asShare: ShareOptions {
        var options = ShareOptions()
        options.oldStore = .capture
        // The plan has decided; what a half-written place holds is in its aside folder.
        options.onBoth = .keepOld
        options.modelFile = modelFile
        options.level = .content
        options.lockTimeout = lockTimeout
        options.allowsNetworkFileSystem = allowsNetworkFileSystem
        return options
    }
}
