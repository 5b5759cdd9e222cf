public import ChangeMerging
public import StoreFormat
public import StoreVerification

/// How a merge of two stores ended.
public struct StoreMergeOutcome: Sendable {
    /// `merged`, or `done` where there was nothing to do.
    public let outcome: MigrationOutcome
    /// The merge's number, which the merged store bears; nil when nothing was written.
    public let epoch: String?
    public let summary: MergeSummary
    /// The file with the rows that lost a decision; nil when there are none.
    public let parkedRows: String?
    /// The file with the objects whose address changed; nil when there are none.
    public let rekeyedObjects: String?
    /// What was proved of the merged store; nil when nothing was written.
    public let report: VerificationReport?
    public let findings: [Finding]
    /// One sentence that says what happened.
    public let message: String
    public let next: NextStep?
}
