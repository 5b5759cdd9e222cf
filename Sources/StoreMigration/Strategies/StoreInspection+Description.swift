import StoreFormat
import StoreStrategies

extension StoreInspection {
    /// True once history tracking was switched on.
    var tracksHistory: Bool { history != nil && historyTables.areNumbered }

    /// The default description of a store at `new`: the settings of this store.
    func mirroredDescription(at new: StoreLocation) -> PersistentStoreDescription {
        var description = PersistentStoreDescription(url: new.url)
        description.sqlitePragmas["journal_mode"] = header.journalMode == .wal ? "WAL" : "DELETE"
        description.isHistoryTrackingEnabled = tracksHistory
        description.posixMode = mode & 0o777
        return description
    }
}
