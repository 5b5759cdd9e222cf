import ChangeMerging
import SafeFiles
public import StoreAccess

extension Finding.Code {
    /// A bookkeeping table could not be removed from a merged store; the next run retries.
    public static let mergeMarkLeft = Finding.Code(rawValue: "mergeMarkLeft")
}

/// Records the result of an interrupted merge: the store has it completely, or not at all.
struct MergeSettlement {
    private let store: StoreLocation
    private let surroundings: Surroundings

    init(of store: StoreLocation, _ surroundings: Surroundings) {
        self.store = store
        self.surroundings = surroundings
    }

    func settle(_ journal: inout MigrationJournal, in folder: Directory) throws {
        if let merging = MergeState(journal.records).begun, merging.into == store {
            if try surroundings.reader.read(
                store,
                { try StoreMerger.hasSeen(merging.epoch, in: $0.connection) }
            ) {
                try journal.append(.merged(epoch: merging.epoch))
            } else {
                try MergeRecords.remove(merging.epoch, in: folder)
                try journal.append(.unmerged(epoch: merging.epoch))
            }
        }
        try forgetMarks(of: journal.records)
    }

    /// Removes the marks of earlier merges whose result the journal records.
    func forgetMarks(of records: [JournalRecord]) throws {
        let merges = MergeState(records)
        let standing = Set(merges.standing.map(\.epoch))
        var known: Set<String> = []
        for case .merging(let merging) in records where merging.into == store && merging.epoch != merges.begun?.epoch {
            known.insert(merging.epoch)
        }
        guard !known.isEmpty else { return }
        let marks = try surroundings.reader.read(store) { try StoreMerger.marks(in: $0.connection) }
        for epoch in marks.seen where known.contains(epoch) { _ = forget(epoch) }
        // The journal records an undo before its mark is removed: until then the mark is the only evidence.
        for epoch in marks.undone where known.contains(epoch) && !standing.contains(epoch) { _ = forget(epoch) }
    }

    /// Removes the store's mark of a merge or its undo once the journal records it, so that plain SQLite stores keep no
    /// table for it.
    ///
    /// A busy store keeps the mark until the next run; that is not a failure of the merge.
    func forget(_ epoch: String) -> [Finding] {
        do {
            let connection = try StoreConnection(store, access: .liveWriting, lockTimeout: surroundings.lockTimeout)
            try StoreMerger.forgetMarks(of: epoch, in: connection, deadline: surroundings.lockDeadline())
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
