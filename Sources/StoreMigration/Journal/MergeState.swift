/// The last merge that a journal tells of, for those who go on with it or undo it.
package enum MergeState: Hashable, Sendable {
    case none
    /// A merge was begun, and nobody noted its end.
    case begun(JournalRecord.Merging)
    case merged(JournalRecord.Merging)

    /// Folds records into the state they describe.
    package init(_ records: [JournalRecord]) {
        var (last, begun): (JournalRecord.Merging?, JournalRecord.Merging?)
        for record in records {
            switch record {
            case .merging(let merging): begun = merging
            case .merged(let epoch) where begun?.epoch == epoch: (last, begun) = (begun, nil)
            case .done: (last, begun) = (begun ?? last, nil)
            case .rolledBack: begun = nil
            case .unmerged(let epoch):
                if begun?.epoch == epoch { begun = nil }
                if last?.epoch == epoch { last = nil }
            default: break
            }
        }
        self = begun.map { .begun($0) } ?? last.map { .merged($0) } ?? .none
    }
}
