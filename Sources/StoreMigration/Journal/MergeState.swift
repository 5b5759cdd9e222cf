package import SafeFiles
package import StoreFormat

/// The merges of a journal, for recovery and undo.
package struct MergeState: Hashable, Sendable {
    /// A merge without a recorded result.
    package private(set) var begun: JournalRecord.Merging?
    /// The merges in force, the last one at the end.
    package private(set) var standing: [JournalRecord.Merging] = []

    /// True when the journal records no merge.
    package var isEmpty: Bool { begun == nil && standing.isEmpty }

    /// Folds records into the state they describe.
    package init(_ records: [JournalRecord]) {
        for record in records {
            switch record {
            case .merging(let merging): begun = merging
            case .merged(let epoch) where begun?.epoch == epoch: settle()
            // These records end a run; a merge outside a share has its own.
            case .done where begun?.oldState != nil: settle()
            case .rolledBack where begun?.oldState != nil: begun = nil
            case .unmerged(let epoch):
                if begun?.epoch == epoch { begun = nil }
                standing.removeAll { $0.epoch == epoch }
            // The merges of a pair that has ended cannot be undone any more.
            case .unshared, .retired: standing.removeAll { $0.oldState != nil }
            default: break
            }
        }
    }

    private mutating func settle() {
        if let begun { standing.append(begun) }
        begun = nil
    }

    /// The last merge of a source in force.
    ///
    /// The source matches by its file identity under any path, or by path and inode, because device numbers may change
    /// on a remount.
    package func last(of source: FileIdentity, at location: StoreLocation) -> JournalRecord.Merging? {
        standing.last { merging in
            guard let recorded = merging.source?.identity else { return false }
            return source == recorded || merging.from == location && source.mayBe(recorded: recorded)
        }
    }
}
