import ModelMigration
import SafeFiles
import StoreFormat
import StoreStrategies

/// The changes to a staged copy that its descriptions require.
struct StoreTreatment {
    /// The journal mode to set; nil keeps it.
    let journalMode: StoreHeader.JournalMode?
    /// The model for the history tables; nil adds none.
    let historyModel: ManagedObjectModel?
    /// The history tables that the store lacks.
    let addedHistory: Set<String>
    /// The permission bits of the files; nil keeps them.
    let mode: UInt32?
    /// The group ID of the files; nil keeps it.
    let group: UInt32?

    /// The changes that all roles together require; throws for an unknown group.
    ///
    /// `target` is the model version that the copy is migrated to before; nil if it keeps its own.
    init(
        _ roles: [RoleDescription],
        of inspection: StoreInspection,
        migratingTo target: MigrationTarget? = nil
    ) throws {
        let wanted =
            roles.compactMap(\.description.journalMode).first.map { $0 == "WAL" ? .wal : .rollback }
            ?? inspection.header.journalMode
        journalMode = wanted == inspection.header.journalMode ? nil : wanted
        let tracks = roles.contains { $0.description.isHistoryTrackingEnabled }
        historyModel = tracks && !inspection.tracksHistory ? target?.model ?? inspection.model : nil
        addedHistory = HistoryTables.all.subtracting(inspection.historyTables.present)
        let rights = roles.flatMap(\.applied).map(\.changes)
        mode = rights.compactMap(\.posixMode).first
        group = try rights.compactMap(\.posixGroup).first
            .map { name in
                guard let number = UserGroup.number(of: name) else {
                    throw StrategyError(
                        .invalidOption,
                        "there is no group '\(name)' for \(DescriptionOption.posixGroup)"
                    )
                }
                return number
            }
    }

    /// True when the copy gets tables that the old store lacks.
    var addsHistory: Bool { historyModel != nil }

    /// True when bytes of the main file change.
    var changesMainFile: Bool { journalMode != nil || addsHistory }

    /// True when modes or groups of files or folders change.
    var changesRights: Bool { mode != nil || group != nil }

    /// The permission bits of folders for files of `mode`: readers may search the folder, and new files inherit its
    /// group.
    static func folderMode(for mode: UInt32) -> UInt32 { mode | (mode & 0o444) >> 2 | 0o2000 }
}
