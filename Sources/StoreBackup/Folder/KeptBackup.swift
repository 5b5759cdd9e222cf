internal import SafeFiles

/// A backup in a folder of backups.
public struct KeptBackup: Sendable {
    /// The file's name.
    public let name: String
    public let bytes: Int64
    /// When it was made, in seconds since 1970: from its name where that contains the time, else the file's time.
    public var time: Int64 { stamp.time }
    /// The archive's manifest; nil when it cannot be read.
    public let manifest: BackupManifest?
    /// Why the backup is not good; nil when no problem is known.
    public let problem: String?
    /// When it was made, and its number among those of the same second.
    let stamp: BackupStamp
    /// When its file was last written, which orders backups that the stamp does not.
    let modified: FileStatus.Time

    /// A copy with this problem.
    func with(problem: String?) -> KeptBackup {
        KeptBackup(
            name: name,
            bytes: bytes,
            manifest: manifest,
            problem: problem,
            stamp: stamp,
            modified: modified
        )
    }

    /// True when this backup was made before the other.
    func isOlder(than other: KeptBackup) -> Bool {
        (stamp.time, stamp.number, modified, name) < (other.stamp.time, other.stamp.number, other.modified, other.name)
    }

    /// What backups of one store have in common.
    var series: String? { manifest.map { $0.store.uuid ?? $0.store.name } }
}
