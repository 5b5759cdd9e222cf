import SafeFiles
import StoreAccess

/// The merges of a journal, for recovery and undo.
package struct MergeState: Hashable, Sendable {
    /// A merge without a recorded result.
    package private(set) var begun: JournalRecord.Merging?
    /// The merges in force, the last one at the end.
    package private(set) var standing: [JournalRecord.Merging] = []
    /// The epochs of merges before a command replaced the content of the store: it may lack their rows.
    private var doubtful: Set<String> = []
    private var isCopying = false

    /// True when the journal records no merge.
    package var isEmpty: Bool { begun == nil && standing.isEmpty }

    /// Folds records into the state they describe.
    package init(_ records: [JournalRecord]) {
        for record in records { add(record) }
    }

    private mutating func add(_ record: JournalRecord) {
        switch record {
        case .merging(let merging): begun = merging
        case .merged(let epoch) where begun?.epoch == epoch: settle()
        case .begin: isCopying = false
        case .publishing, .replacing: isCopying = true
        case .done:
            // The new content is a copy of the old store's, and the merges between them are over.
            if isCopying { standing.removeAll { $0.isOfPair } }
            // The record ends a run; a merge outside a pair has its own.
            if begun?.isOfPair == true { settle() }
        case .rolledBack where begun?.isOfPair == true: begun = nil
        case .unmerged(let epoch):
            if begun?.epoch == epoch { begun = nil }
            standing.removeAll { $0.epoch == epoch }
        case .unshared, .retired:
            // The merges of a pair that has ended cannot be undone any more.
            standing.removeAll { $0.isOfPair }
            doubtAll()
        case .restored: doubtAll()
        case .voided(because: JournalRecord.contentReplaced): doubtAll()
        default: break
        }
    }

    private mutating func settle() {
        if let begun { standing.append(begun) }
        begun = nil
    }

    private mutating func doubtAll() { doubtful.formUnion(standing.filter { !$0.isOfPair }.map(\.epoch)) }

    /// The merges that an undo may roll back: `store` is the very file that received them, and was not replaced since.
    func undoable(in store: StoreLocation, _ file: JournalRecord.Receiver?) -> [JournalRecord.Merging] {
        standing.filter { $0.into == store && isCertain($0, file) }
    }

    /// True if `file`, the present file at the receiver's path, received the merge, and was not replaced since.
    func isCertain(_ merging: JournalRecord.Merging, _ file: JournalRecord.Receiver?) -> Bool {
        guard !doubtful.contains(merging.epoch) else { return false }
        guard let recorded = merging.receiver else { return true }
        return file?.mayBe(recorded: recorded) == true
    }

    /// The last merge of a source into a store.
    ///
    /// The source matches by its file identity under any path, or by path and inode, because device numbers may change
    /// on a remount.
    func last(of source: FileIdentity, at location: StoreLocation, into store: StoreLocation) -> JournalRecord.Merging?
    {
        standing.last { merging in
            guard merging.into == store, let recorded = merging.source?.identity else { return false }
            return source == recorded || merging.from == location && source.mayBe(recorded: recorded)
        }
    }
}

extension JournalRecord {
    /// The reason of a record `voided` whose store lost its content to another store's.
    static let contentReplaced = "the content was replaced"
}

extension JournalRecord.Merging {
    /// True for a merge between the stores of a pair, which the pair's run records.
    var isOfPair: Bool { oldState != nil }
}
