import SafeFiles
import StoreFormat
import StoreStrategies

/// What is done to a staged copy so that it becomes what its descriptions say.
struct StoreTreatment {
    /// What the header is to say of the journal; nil leaves it as it is.
    let journalMode: StoreHeader.JournalMode?
    /// The model in whose shape the tables of a history are made; nil makes none.
    let historyModel: ManagedObjectModel?
    /// Those of a history's tables that the store lacks.
    let addedHistory: Set<String>
    /// The permission bits of the files; nil leaves them as they are.
    let mode: UInt32?
    /// The number of the files' group; nil leaves it as it is.
    let group: UInt32?

    /// What makes the store what all roles together say; throws for a group that there is not.
    init(_ roles: [RoleDescription], of inspection: StoreInspection) throws {
        let wanted =
            roles.compactMap(\.description.journalMode).first.map { $0 == "WAL" ? .wal : .rollback }
            ?? inspection.header.journalMode
        journalMode = wanted == inspection.header.journalMode ? nil : wanted
        let tracks = roles.contains { $0.description.isHistoryTrackingEnabled }
        historyModel = tracks && !inspection.tracksHistory ? inspection.model : nil
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

    /// True when the content gets tables that the old store has not.
    var addsHistory: Bool { historyModel != nil }

    /// True when bytes of the main file change.
    var changesMainFile: Bool { journalMode != nil || addsHistory }

    /// True when files or folders get other rights.
    var changesRights: Bool { mode != nil || group != nil }

    /// The permission bits of folders that go with files of `mode`: who reads a file enters, and new files get the group.
    static func folderMode(for mode: UInt32) -> UInt32 { mode | (mode & 0o444) >> 2 | 0o2000 }
}
