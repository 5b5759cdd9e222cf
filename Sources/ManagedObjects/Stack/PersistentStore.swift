public import FoundationEssentials
internal import StoreFormat
public import StoreStrategies

/// A store that a coordinator holds, as it really is: options are read back, never repeated.
public struct PersistentStore: Sendable, Identifiable {
    /// The store's UUID, as in the URIs of its objects.
    public let identifier: String
    public let url: URL
    /// What was asked for.
    public let description: PersistentStoreDescription
    public let isReadOnly: Bool
    /// Why the store is read-only; nil when it is not.
    public let readOnlyReason: String?
    /// The journal mode in force, in lower case as SQLite names it.
    public let journalMode: String
    /// True when the store keeps a persistent history.
    public let isHistoryTrackingEnabled: Bool
    /// The pragmas that were asked for, with the values that are in force.
    public let sqlitePragmas: [String: String]
    /// How long it is waited for a lock, in seconds.
    public let timeout: Double
    /// True when the log stays on disk after the last connection is closed.
    public let usesPersistentWriteAheadLog: Bool
    /// The permission bits of the main file; nil when they could not be read.
    public let posixMode: UInt32?
    /// The number of the group that the main file belongs to; nil when it could not be read.
    public let posixGroup: UInt32?
    /// What was asked for and is not in force here: what Linux has no like of, and modes and groups of files that were
    /// there.
    public let optionsNotApplied: [DescriptionOption]

    public var id: String { identifier }
}
