/// The result of executing a planned merge.
package struct MergeResult: Hashable, Sendable {
    package enum Outcome: String, Hashable, Sendable, Codable {
        /// The old side had no changes: nothing was written.
        case nothingToDo
        /// The shared store already contains this merge: nothing was written.
        case alreadyDone
        case merged
    }

    package let outcome: Outcome
    /// The number of the merge's transaction in history; nil where the store keeps none.
    package let historyTransaction: Int64?

    /// The planned changes that were not made, because constraints of the shared store rejected the rows.
    package let rejections: [MergeRejection]

    package init(_ outcome: Outcome, historyTransaction: Int64? = nil, rejections: [MergeRejection] = []) {
        self.outcome = outcome
        self.historyTransaction = historyTransaction
        self.rejections = rejections
    }
}

/// A planned change that a constraint of the shared store rejected while the merge was written: the row is parked.
package struct MergeRejection: Hashable, Sendable {
    enum Change: Hashable, Sendable {
        case inserted, restored, updated
    }

    let change: Change
    let table: String

    init(of change: Change, in table: String) {
        self.change = change
        self.table = table
    }
}

extension MergeSummary {
    /// The summary of the executed merge: rejected changes count as parked rows, with one note for each table.
    package func excluding(_ rejections: [MergeRejection]) -> MergeSummary {
        var result = self
        var rejected: [String: Int] = [:]
        for rejection in rejections {
            var counts = result.entities[rejection.table] ?? Counts()
            switch rejection.change {
            case .inserted:
                counts.inserted -= 1
                result.inserted -= 1
            case .restored:
                counts.restored -= 1
                result.restored -= 1
            case .updated:
                counts.updated -= 1
                result.updated -= 1
            }
            result.entities[rejection.table] = counts == Counts() ? nil : counts
            result.parked += 1
            rejected[rejection.table, default: 0] += 1
        }
        for (table, count) in rejected.sorted(by: { $0.key < $1.key }) {
            result.notes.append(MergeNote(.constraintRejected, entity: table, count: count))
        }
        return result
    }
}
