public import ChangeMerging
public import StoreFormat
public import StoreVerification

/// How a merge of two stores ended.
public struct StoreMergeOutcome: Sendable {
    /// `merged`, or `done` when there was nothing to do.
    public let outcome: MigrationOutcome
    /// The epoch, which the merged store contains; nil when nothing was written.
    public let epoch: String?
    public let summary: MergeSummary
    /// The file with the parked rows; nil when there are none.
    public let parkedRows: String?
    /// The file with the objects whose address changed; nil when there are none.
    public let rekeyedObjects: String?
    /// The verification of the merged store; nil when nothing was written.
    public let report: VerificationReport?
    public let findings: [Finding]
    /// One sentence that says what happened.
    public let message: String
    public let next: NextStep?
}
