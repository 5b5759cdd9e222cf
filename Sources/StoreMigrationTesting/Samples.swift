public import StoreStrategies

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension StoreFacts {
    /// Stores of many kinds: with and without history, log, model, rights, and on a network.
    public static var samples: [StoreFacts] {
        var remote = StoreFacts()
        remote.isContainerRemote = true
        var closed = StoreFacts(journalMode: .rollback)
        closed.containerMode = 0o700
        closed.mode = 0o600
        return [
            StoreFacts(),
            StoreFacts(journalMode: .rollback, hasHistory: true, objectCount: 12, byteCount: 40_960),
            StoreFacts(hasModel: false, objectCount: 1_000_000, byteCount: 1 << 30, externalFileCount: 7),
            StoreFacts(hasHistory: true, hasModel: false),
            StoreFacts(kind: .sqlite, hasModel: false, objectCount: 3, byteCount: 8_192),
            StoreFacts(containerMode: 0o2770, containerGroup: 20),
            closed,
            remote,
        ]
    }
}

extension PersistentStoreDescription {
    /// Descriptions as earlier strategies may have left them.
    static var samples: [PersistentStoreDescription] {
        let plain = PersistentStoreDescription(url: URL(filePath: "/group/Habits.sqlite"))
        var other = plain
        other.sqlitePragmas = ["journal_mode": "DELETE", "synchronous": "FULL"]
        other.isHistoryTrackingEnabled = true
        other.isReadOnly = true
        other.timeout = 5
        other.configuration = "Local"
        other.postsRemoteChangeNotifications = true
        other.usesPersistentWriteAheadLog = true
        other.isExcludedFromBackup = true
        other.posixGroup = "20"
        other.posixMode = 0o600
        other.fileProtection = .complete
        other.shouldMigrateStoreAutomatically = false
        var logged = plain
        logged.sqlitePragmas = ["journal_mode": "WAL"]
        return [plain, other, logged]
    }

    /// The default description, before any strategy: the store's own settings.
    static func mirrored(_ facts: StoreFacts) -> PersistentStoreDescription {
        var description = PersistentStoreDescription(url: URL(filePath: "/group/Habits.sqlite"))
        description.sqlitePragmas["journal_mode"] = facts.journalMode == .wal ? "WAL" : "DELETE"
        description.isHistoryTrackingEnabled = facts.hasHistory
        description.posixMode = facts.mode & 0o777
        return description
    }
}
