public import StoreFormat

/// What taking a merge back did.
public struct UnmergeOutcome: Sendable {
    /// The number of the merge that was taken back.
    public let epoch: String
    /// Objects, or rows, that are there again.
    public let inserted: Int
    /// Those that are what they were before.
    public let updated: Int
    /// Those that the merge had brought.
    public let deleted: Int
    public let findings: [Finding]
}
