internal import SafeFiles

/// A backup in a folder of backups.
public struct KeptBackup: Sendable {
    /// The file's name.
    public let name: String
    public let bytes: Int64
    /// When it was made, in seconds since 1970: by its name where that tells, else by the file's time.
    public var time: Int64 { stamp.time }
    /// What it says of itself; nil when it cannot be read.
    public let manifest: BackupManifest?
    /// What is wrong with it.
    public let problem: String?
    /// When it was made, and its number among those of the same second.
    let stamp: BackupStamp
    /// When its file was last written, which orders backups that the stamp does not.
    let modified: FileStatus.Time

    /// The same with what was found to be wrong with it.
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

    /// True when this one was made before the other.
    func isOlder(than other: KeptBackup) -> Bool {
        (stamp.time, stamp.number, modified, name) < (other.stamp.time, other.stamp.number, other.modified, other.name)
    }

    /// What backups of one store have in common.
    var series: String? { manifest.map { $0.store.uuid ?? $0.store.name } }
}
