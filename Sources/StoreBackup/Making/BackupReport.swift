public import StoreFormat

/// The content of a backup that was made and checked.
public struct BackupReport: Sendable {
    /// The archive's absolute path; `-` for a stream.
    public let path: String
    /// The archive's bytes.
    public let bytes: Int64
    public let manifest: BackupManifest
    public let findings: [Finding]
}
