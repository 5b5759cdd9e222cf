import ModelMigration
import SafeFiles
import StoreAccess
import StoreFormat
import StoreStrategies
import StoreWriting

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

/// Applies descriptions to a staged main file, and can revert that byte for byte.
///
/// A share applies them twice: first to prove the result, then, after reverting and catching up with writers, for good.
/// Both give the same bytes unless the old store changed in between.
struct StagedTreatment {
    /// The changed pages with their former bytes.
    private let pages: [(offset: Int64, bytes: [UInt8])]
    private let size: Int64

    private static let frameHeader: Int64 = 24
    private static let logHeader: Int64 = 32

    /// Applies the descriptions; no other process may have the file open.
    init(_ treatment: StoreTreatment, to location: StoreLocation, main: DurableFile) throws {
        size = try main.status().size
        guard treatment.changesMainFile else {
            pages = []
            return
        }
        let connection = try StoreConnection(location, access: .privateCopy)
        let pageSize = try connection.value("PRAGMA page_size")?.integer ?? 4096
        let before = try connection.value("PRAGMA journal_mode")?.text
        var numbers: Set<Int64> = [1]
        var pages = try [Self.page(1, of: main, pageSize: pageSize)]
        if let model = treatment.historyModel {
            // With the changes in the log, the main file stays unchanged until all changed pages are known.
            try Self.setJournalMode("wal", of: connection)
            try connection.execute("PRAGMA wal_autocheckpoint = 0")
            try connection.execute("BEGIN IMMEDIATE")
            try HistoryWriter.writeSchema(for: model, to: connection)
            try connection.execute("COMMIT")
            for number in try Self.pagesInLog(of: connection, pageSize: pageSize)
            where numbers.insert(number).inserted && (number - 1) * pageSize < size {
                pages.append(try Self.page(number, of: main, pageSize: pageSize))
            }
            try NewStoreFile.checkpoint(connection)
        }
        let wanted = treatment.journalMode.map { $0 == .wal ? "wal" : "delete" } ?? (before == "wal" ? "wal" : "delete")
        try Self.setJournalMode(wanted, of: connection)
        try NewStoreFile.closeClean(connection)
        try main.synchronize()
        self.pages = pages
    }

    /// Restores every byte.
    func takeBack(from main: DurableFile) throws {
        guard !pages.isEmpty else { return }
        for page in pages { try page.bytes.withUnsafeBytes { try main.write($0, at: page.offset) } }
        try main.truncate(to: size)
        try main.synchronize()
    }

    private static func setJournalMode(_ mode: String, of connection: StoreConnection) throws {
        guard try connection.value("PRAGMA journal_mode = \(mode)")?.text == mode else {
            throw StoreError(.failed, path: connection.location.path, "the journal mode could not be set to \(mode)")
        }
    }

    private static func page(
        _ number: Int64,
        of main: DurableFile,
        pageSize: Int64
    ) throws -> (offset: Int64, bytes: [UInt8]) {
        let offset = (number - 1) * pageSize
        var bytes = [UInt8](repeating: 0, count: Int(pageSize))
        let count = try bytes.withUnsafeMutableBytes { try main.read(into: $0, at: offset) }
        return (offset, Array(bytes.prefix(count)))
    }

    /// The numbers of the pages in the log, which only this connection has written.
    private static func pagesInLog(of connection: StoreConnection, pageSize: Int64) throws -> [Int64] {
        let size = try connection.size(of: .journal)
        var numbers: [Int64] = []
        var word = [UInt8](repeating: 0, count: 4)
        for offset in stride(from: logHeader, to: size, by: Int(frameHeader + pageSize)) {
            _ = try word.withUnsafeMutableBytes { try connection.read(.journal, into: $0, at: offset) }
            numbers.append(word.reduce(0) { $0 << 8 | Int64($1) })
        }
        return numbers
    }
}

extension DescriptionOption {
    /// True for an option without effect here, carried in descriptions for programs on Apple's platforms.
    var isCarriedOnly: Bool { Self.carriedOnly.contains(self) }

    private static let carriedOnly: Set<Self> = [
        .shouldAddStoreAsynchronously, .fileProtection, .isExcludedFromBackup, .notificationNames,
    ]
}
