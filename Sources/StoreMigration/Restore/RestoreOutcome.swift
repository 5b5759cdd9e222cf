public import StoreBackup
public import StoreFormat
public import StoreVerification

/// How a restore ended, with what was proved and where everything is.
public struct RestoreOutcome: Sendable {
    /// `restored`.
    public let outcome: MigrationOutcome
    /// The run's number; nil when the place held what the backup holds.
    public let transaction: String?
    /// The store's main file.
    public let path: String
    /// What the archive said of itself, and was found to be.
    public let manifest: BackupManifest
    /// The folder with the store that was there before; nil when there was none.
    public let keptAside: String?
    /// What was proved; nil when nothing was written.
    public let report: VerificationReport?
    public let findings: [Finding]
    /// One sentence that says why it ended this way.
    public let message: String
}
