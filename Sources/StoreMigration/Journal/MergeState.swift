package import SafeFiles
package import StoreFormat

/// The merges that a journal tells of, for those who go on with them or undo them.
package struct MergeState: Hashable, Sendable {
    /// A merge that was begun, and whose end nobody noted.
    package private(set) var begun: JournalRecord.Merging?
    /// The merges that were made and not taken back, the last one at the end.
    package private(set) var standing: [JournalRecord.Merging] = []

    /// True when the journal tells of no merge.
    package var isEmpty: Bool { begun == nil && standing.isEmpty }

    /// Folds records into the state they describe.
    package init(_ records: [JournalRecord]) {
        for record in records {
            switch record {
            case .merging(let merging): begun = merging
            case .merged(let epoch) where begun?.epoch == epoch: settle()
            // These end a run; a merge that belongs to none has an end of its own.
            case .done where begun?.oldState != nil: settle()
            case .rolledBack where begun?.oldState != nil: begun = nil
            case .unmerged(let epoch):
                if begun?.epoch == epoch { begun = nil }
                standing.removeAll { $0.epoch == epoch }
            // What was merged while the store was shared then is nothing that could be taken back now.
            case .unshared, .retired: standing.removeAll { $0.oldState != nil }
            default: break
            }
        }
    }

    private mutating func settle() {
        if let begun { standing.append(begun) }
        begun = nil
    }

    /// The last standing merge of a store: it is known by its file, whatever its path is called; or by its path and the
    /// file's number, for that of the device may be another after a mount.
    package func last(of source: FileIdentity, at location: StoreLocation) -> JournalRecord.Merging? {
        standing.last { merging in
            guard let recorded = merging.source?.identity else { return false }
            return source == recorded || merging.from == location && source.mayBe(recorded: recorded)
        }
    }
}
