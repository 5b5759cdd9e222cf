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
    let folder: URL?
    let surroundings: Surroundings

    init(of store: StoreLocation, in folder: URL?, _ surroundings: Surroundings) {
        self.store = store
        self.folder = folder
        self.surroundings = surroundings
    }

    /// Makes the backup if there is a folder for it, and returns its report; a failure stops the run before it writes.
    func make() throws -> (report: BackupReport, findings: [Finding])? {
        guard let folder else { return nil }
        let report = try BackupFolder(at: folder, monitor: surroundings.monitor)
            .add(store.url, options: surroundings.backup)
        let finding = Finding(.backedUp, .info, level: .files, "a backup was made first", path: report.path)
        return (report, report.findings + [finding])
    }
}
