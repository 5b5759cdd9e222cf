import StoreFormat
import StoreStrategies

extension StoreInspection {
    /// True once history tracking was switched on.
    var tracksHistory: Bool { history != nil && historyTables.areNumbered }

    /// How a program opens a store at `new` when nobody says otherwise: as this one is opened.
    func mirroredDescription(at new: StoreLocation) -> PersistentStoreDescription {
        var description = PersistentStoreDescription(url: new.url)
        description.sqlitePragmas["journal_mode"] = header.journalMode == .wal ? "WAL" : "DELETE"
        description.isHistoryTrackingEnabled = tracksHistory
        description.posixMode = mode & 0o777
        return description
    }
}
