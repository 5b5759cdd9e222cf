public import ModelMigration
public import StoreFormat
public import StoreVerification

/// How a migration in place ended, with its proof and all paths.
public struct LightweightMigrationOutcome: Sendable {
    /// `migrated`.
    public let outcome: MigrationOutcome
    /// The transaction ID; nil when the store already had the model version.
    public let transaction: String?
    /// The store's main file.
    public let path: String
    public let target: MigrationTarget
    /// What was carried out; without changes when the store had the version.
    public let mapping: InferredMapping?
    /// The tables whose rows were copied, and those that were changed in their pages.
    public let copiedTables: [String]
    public let extendedTables: [String]
    /// The external files that no row referred to any more, and that were removed; the kept copy has them.
    public let removedFiles: [String]
    /// The folder with the store as it was; nil when nothing was written.
    public let keptAside: String?
    /// The proof; nil when nothing was written.
    public let report: VerificationReport?
    public let findings: [Finding]
    /// One sentence that says why it ended this way.
    public let message: String
}
