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

    package init(_ outcome: Outcome, historyTransaction: Int64? = nil) {
        self.outcome = outcome
        self.historyTransaction = historyTransaction
    }
}
