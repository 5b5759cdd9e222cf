import ChangeMerging
import SafeFiles
public import StoreFormat

extension Finding.Code {
    /// A table of ours could not be removed from a merged store; the next run over it does.
    public static let mergeMarkLeft = Finding.Code(rawValue: "mergeMarkLeft")
}

/// Notes the end of a merge whose end nobody noted: it is in the store whole, or not at all.
struct MergeSettlement {
    private let store: StoreLocation
    private let reader: StoreReader
    private let lockTimeout: Duration

    init(of store: StoreLocation, reader: StoreReader, lockTimeout: Duration) {
        self.store = store
        self.reader = reader
        self.lockTimeout = lockTimeout
    }

    func settle(_ journal: inout MigrationJournal, in folder: Directory) throws {
        if let merging = MergeState(journal.records).begun, merging.into == store {
            if try reader.withView(of: store, { try StoreMerger.hasSeen(merging.epoch, in: $0.connection) }) {
                try journal.append(.merged(epoch: merging.epoch))
            } else {
                try MergeRecords.remove(merging.epoch, in: folder)
                try journal.append(.unmerged(epoch: merging.epoch))
            }
        }
        try forgetMarks(of: journal.records)
    }

    /// Removes what earlier runs left in the store, of merges whose end the journal tells.
    func forgetMarks(of records: [JournalRecord]) throws {
        let merges = MergeState(records)
        let standing = Set(merges.standing.map(\.epoch))
        var known: Set<String> = []
        for case .merging(let merging) in records where merging.into == store && merging.epoch != merges.begun?.epoch {
            known.insert(merging.epoch)
        }
        guard !known.isEmpty else { return }
        let marks = try reader.withView(of: store) { try StoreMerger.marks(in: $0.connection) }
        for epoch in marks.seen where known.contains(epoch) { _ = forget(epoch) }
        // An undoing is noted before its mark goes: while the merge stands, the mark is all that tells.
        for epoch in marks.undone where known.contains(epoch) && !standing.contains(epoch) { _ = forget(epoch) }
    }

    /// Removes what the store keeps of a merge or its undoing, once the journal knows: a store that is none of Core Data's
    /// need not keep a table for it.
    ///
    /// A store that is busy keeps it until the next run, which is no reason to call what was done failed.
    func forget(_ epoch: String) -> [Finding] {
        do {
            let connection = try StoreConnection(store, access: .liveWriting, lockTimeout: lockTimeout)
            try StoreMerger.forgetMarks(of: epoch, in: connection, deadline: Deadline(after: lockTimeout))
            try connection.close()
            return []
        } catch {
            return [
                Finding(
                    .mergeMarkLeft,
                    .info,
                    level: .sqlite,
                    "the mark of the merge is still in the store, until the next run over it: \(error)",
                    path: store.path
                )
            ]
        }
    }
}
