internal import FileProtection
internal import HistoryTracking
internal import LightweightMigration
internal import ReadOnlyExtension
internal import RollbackJournal
internal import SharedAccess
public import StoreStrategies
internal import WriteAheadLog

/// The list of the strategies in `Plugins/`, for text that names them: `StrategySelection`.
public enum BuiltInStrategies {
    public static let all: [any StoreStrategy] = [
        FileProtectionStrategy(),
        HistoryTrackingStrategy(),
        LightweightMigrationStrategy(),
        ReadOnlyExtensionStrategy(),
        RollbackJournalStrategy(),
        SharedAccessStrategy(),
        WriteAheadLogStrategy(),
    ]
}

/// The built-in strategies as values; what is not given has the strategy's default.
extension StrategyPipeline.Step {
    /// Reads the written form of a built-in strategy, as `SharedAccess:mode=0660,group=habits`.
    ///
    /// Throws `StrategyError` for an unknown name, with the name that is probably meant. Options are checked when the
    /// pipeline describes.
    public init(_ text: String) throws(StrategyError) {
        self = try StrategySelection(text).step(among: BuiltInStrategies.all)
    }

    /// Keeps changes in a write-ahead log, so that readers and a writer do not block each other.
    public static let writeAheadLog = Self(WriteAheadLogStrategy())

    /// Keeps changes in a rollback journal.
    public static let rollbackJournal = Self(RollbackJournalStrategy())

    /// Records who changed what, and notifies the other programs of each save.
    public static let historyTracking = Self(HistoryTrackingStrategy())

    /// Records who changed what; `notifications` says whether each save notifies the other programs.
    public static func historyTracking(notifications: Bool) -> Self {
        Self(HistoryTrackingStrategy(), options: ["notifications": String(notifications)])
    }

    /// Gives the store's files permission bits and a group, by name or number.
    public static func sharedAccess(mode: UInt32? = nil, group: String? = nil) -> Self {
        var options = StrategyOptions()
        options.values["mode"] = mode.map(PosixMode.text)
        options.values["group"] = group
        return Self(SharedAccessStrategy(), options: options)
    }

    /// Opens the store read-only in all extensions.
    public static let readOnlyExtension = Self(ReadOnlyExtensionStrategy())

    /// Opens the store read-only in one extension.
    public static func readOnlyExtension(_ name: String) -> Self {
        Self(ReadOnlyExtensionStrategy(), options: ["name": name])
    }

    /// Sets the class of file protection on Apple's platforms.
    public static func fileProtection(_ protection: PersistentStoreDescription.FileProtection) -> Self {
        Self(FileProtectionStrategy(), options: ["class": FileProtectionStrategy.word(for: protection)])
    }

    /// Sets whether Core Data migrates an older store, and infers the mapping.
    public static func lightweightMigration(migrate: Bool = true, infer: Bool = true) -> Self {
        Self(LightweightMigrationStrategy(), options: ["migrate": String(migrate), "infer": String(infer)])
    }
}
