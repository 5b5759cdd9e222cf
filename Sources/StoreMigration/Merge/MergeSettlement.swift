import ChangeMerging
import SafeFiles
import StoreFormat

/// Notes the end of a merge whose end nobody noted: it is in the store whole, or not at all.
struct MergeSettlement {
    private let store: StoreLocation
    private let reader: StoreReader

    init(of store: StoreLocation, reader: StoreReader) {
        self.store = store
        self.reader = reader
    }

    func settle(_ journal: inout MigrationJournal, in folder: Directory) throws {
        guard case .begun(let merging) = MergeState(journal.records), merging.into == store else { return }
        let epoch = try reader.withView(of: store) { try StoreMerger.epoch(of: $0.connection) }
        if epoch == merging.epoch {
            try journal.append(.merged(epoch: merging.epoch))
        } else {
            try MergeRecords.remove(merging.epoch, in: folder)
            try journal.append(.unmerged(epoch: merging.epoch))
        }
    }
}
