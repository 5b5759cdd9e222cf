import StoreFormat
import StoreStrategies
import StoreVerification

/// The result of a completed run, for the outcome that the caller receives.
struct RunResult {
    let transaction: String
    let digest: String?
    /// The digest of the new store, if it was migrated or merged into.
    var newDigest: String?
    /// Objects in the new store, when they were counted again.
    let objects: Int64?
    let report: VerificationReport
    /// Nil when nothing was copied.
    let work: ShareOutcome.Work?
    let findings: [Finding]
    let descriptions: [StoreRole: PersistentStoreDescription]
    /// Nil when nothing was merged.
    var merge: ShareOutcome.Merge?
}
