/// What came of carrying out a planned merge.
package struct MergeResult: Hashable, Sendable {
    package enum Outcome: String, Hashable, Sendable, Codable {
        /// The old side had done nothing: nothing was written.
        case nothingToDo
        /// The shared store saw this very merge before: nothing was written.
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
