/// A backup in a folder of backups.
public struct KeptBackup: Sendable {
    /// The file's name.
    public let name: String
    public let bytes: Int64
    /// When it was made, in seconds since 1970: by its name where that tells, else by the file's time.
    public let time: Int64
    /// What it says of itself; nil when it cannot be read.
    public let manifest: BackupManifest?
    /// What is wrong with it.
    public let problem: String?

    /// The same with what was found to be wrong with it.
    func with(problem: String?) -> KeptBackup {
        KeptBackup(name: name, bytes: bytes, time: time, manifest: manifest, problem: problem)
    }

    /// What backups of one store have in common.
    var series: String? { manifest.map { $0.store.uuid ?? $0.store.name } }
}
