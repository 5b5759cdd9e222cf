public import FoundationEssentials
internal import StoreFormat
public import StoreStrategies

/// The actual state of an open store: options are read back, never repeated from the description.
public struct PersistentStore: Sendable, Identifiable {
    /// The store's UUID, as in the URIs of its objects.
    public let identifier: String
    public let url: URL
    /// The requested options.
    public let description: PersistentStoreDescription
    public let isReadOnly: Bool
    /// Why the store is read-only; nil when it is not.
    public let readOnlyReason: String?
    /// The effective journal mode, in lower case as SQLite names it.
    public let journalMode: String
    /// True when saves are recorded in the persistent history.
    public let isHistoryTrackingEnabled: Bool
    /// The requested pragmas with their effective values.
    public let sqlitePragmas: [String: String]
    /// The maximum wait for a lock, in seconds.
    public let timeout: Double
    /// True when the WAL stays on disk after the last connection is closed.
    public let usesPersistentWriteAheadLog: Bool
    /// The permission bits of the main file; nil when they could not be read.
    public let posixMode: UInt32?
    /// The group ID of the main file; nil when it could not be read.
    public let posixGroup: UInt32?
    /// The requested options that are not in effect: those without an equivalent on Linux, and modes and groups of
    /// existing files.
    public let optionsNotApplied: [DescriptionOption]

    public var id: String { identifier }
}
