import FoundationEssentials
import StoreBackup
public import StoreFormat

extension Finding.Code {
    /// A backup was made before the run changed anything.
    public static let backedUp = Finding.Code(rawValue: "backedUp")
}

/// The optional backup before a share.
struct SafetyBackup {
    let store: StoreLocation
    let options: ShareOptions
    let monitor: WorkMonitor

    init(of store: StoreLocation, options: ShareOptions, monitor: WorkMonitor = .silent) {
        self.store = store
        self.options = options
        self.monitor = monitor
    }

    /// Makes the backup if the options name a folder, and returns its report; a failure stops the run before it writes.
    func make() throws -> (report: BackupReport, findings: [Finding])? {
        guard let folder = options.backupFolder else { return nil }
        var backup = BackupOptions()
        backup.lockTimeout = options.effectiveLockTimeout
        backup.allowsNetworkFileSystem = options.allowsNetworkFileSystem
        let report = try BackupFolder(at: folder, monitor: monitor).add(store.url, options: backup)
        let finding = Finding(.backedUp, .info, level: .files, "a backup was made first", path: report.path)
        return (report, report.findings + [finding])
    }
}
