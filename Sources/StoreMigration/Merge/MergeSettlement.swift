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
        guard let merging = MergeState(journal.records).begun, merging.into == store else { return }
        if try reader.withView(of: store, { try StoreMerger.hasSeen(merging.epoch, in: $0.connection) }) {
            try journal.append(.merged(epoch: merging.epoch))
        } else {
            try MergeRecords.remove(merging.epoch, in: folder)
            try journal.append(.unmerged(epoch: merging.epoch))
        }
    }
}
