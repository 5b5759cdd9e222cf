public import StoreFormat

/// The result of undoing a merge.
public struct UnmergeOutcome: Sendable {
    /// The epoch of the undone merge.
    public let epoch: String
    /// Objects, or rows, that were inserted again.
    public let inserted: Int
    /// Objects, or rows, that have their former values again.
    public let updated: Int
    /// Objects, or rows, that the merge had inserted.
    public let deleted: Int
    public let findings: [Finding]
}
