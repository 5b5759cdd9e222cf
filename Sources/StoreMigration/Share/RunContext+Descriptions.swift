import FoundationEssentials
import StoreFormat
import StoreStrategies

extension RunContext {
    /// How each role opens the new store when no strategy is named: as the old one was opened.
    func mirroredDescriptions(of inspection: StoreInspection) -> [StoreRole: PersistentStoreDescription] {
        var description = PersistentStoreDescription(url: new.url)
        description.sqlitePragmas["journal_mode"] = inspection.header.journalMode == .wal ? "WAL" : "DELETE"
        description.isHistoryTrackingEnabled = inspection.history != nil
        description.posixMode = inspection.mode & 0o777
        return [.app: description]
    }
}
