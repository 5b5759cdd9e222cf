import ArgumentParser
import StoreBackup
import StoreMigration

/// `backups list DIR`: the manifest of each archive.
struct BackupsListVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Shows the manifest of each archive in a folder; reads only the beginning of each."
    )
    static let words = ["backups", "list"]
    static let outcomes: [MigrationOutcome] = [.done, .nothingFound, .foundButUnreadable]

    @Argument(help: "A folder of archives.")
    var folder: PathArgument

    @OptionGroup var reporting: ReportingOptions

    func perform(_ reporter: Reporter) throws -> Ending {
        let backups = try BackupFolder(at: folder.url, isCancelled: reporter.isCancelled).list()
        guard !backups.isEmpty else {
            reporter.result("\(Escaped.text(folder.path)): no backups", record: nil)
            return Ending(.done)
        }
        for backup in backups {
            reporter.result(backup.text(), record: backup.record(in: folder.path, .listed))
        }
        return Ending(.done)
    }
}
