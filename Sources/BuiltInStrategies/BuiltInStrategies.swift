internal import FileProtection
internal import HistoryTracking
internal import LightweightMigration
internal import ReadOnlyExtension
internal import RollbackJournal
internal import SharedAccess
public import StoreStrategies
internal import WriteAheadLog

/// The list of the strategies in `Plugins/`.
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

    /// The strategy of a name; nil when none has it.
    public static func named(_ name: String) -> (any StoreStrategy)? { all.first { $0.name == name } }
}
