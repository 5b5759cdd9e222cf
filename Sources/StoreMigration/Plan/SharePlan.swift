public import StoreFormat

/// What a share would do, decided from two inspections and the caller's options; carrying it out is another matter.
public struct SharePlan: Hashable, Sendable {
    /// How the run ends when it is carried out and nothing fails.
    public let outcome: MigrationOutcome
    /// The main file of the old store.
    public let old: StoreLocation
    /// The main file of the new store.
    public let new: StoreLocation
    /// In the order in which they are carried out; empty when there is nothing to do.
    public let steps: [PlanStep]
    public let findings: [Finding]
    /// One sentence that says why.
    public let reason: String
    public let next: NextStep?

    public init(
        outcome: MigrationOutcome,
        old: StoreLocation,
        new: StoreLocation,
        steps: [PlanStep] = [],
        findings: [Finding] = [],
        reason: String,
        next: NextStep? = nil
    ) {
        self.outcome = outcome
        self.old = old
        self.new = new
        self.steps = steps
        self.findings = findings
        self.reason = reason
        self.next = next
    }
}
