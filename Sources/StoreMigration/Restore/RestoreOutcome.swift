public import StoreBackup
public import StoreFormat
public import StoreVerification

/// How a restore ended, with its proof and all paths.
public struct RestoreOutcome: Sendable {
    /// `restored`.
    public let outcome: MigrationOutcome
    /// The transaction ID; nil when the destination already had the backup's content.
    public let transaction: String?
    /// The store's main file.
    public let path: String
    /// The archive's manifest, checked against its content.
    public let manifest: BackupManifest
    /// The folder with the replaced store's files; nil when there was none.
    public let keptAside: String?
    /// The proof; nil when nothing was written.
    public let report: VerificationReport?
    public let findings: [Finding]
    /// One sentence that says why it ended this way.
    public let message: String
}
