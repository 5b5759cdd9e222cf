public import StoreFormat

/// What a backup that was made and checked holds.
public struct BackupReport: Sendable {
    /// The archive's absolute path; `-` for a stream.
    public let path: String
    /// The archive's bytes.
    public let bytes: Int64
    public let manifest: BackupManifest
    public let findings: [Finding]
}
