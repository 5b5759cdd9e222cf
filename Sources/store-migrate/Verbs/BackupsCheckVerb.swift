import ArgumentParser
import StoreBackup
import StoreMigration

/// `backups check DIR`: checks that each archive can be restored.
struct BackupsCheckVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Unpacks each archive in a scratch folder and compares its content with its manifest."
    )
    static let words = ["backups", "check"]
    static let outcomes: [MigrationOutcome] = [.done, .findings, .nothingFound, .foundButUnreadable, .noSpace]

    @Argument(help: "A folder of archives.")
    var folder: PathArgument

    @OptionGroup var reporting: ReportingOptions

    func perform(_ reporter: Reporter) throws -> Ending {
        let backups = BackupFolder(at: folder.url, onProgress: reporter.onProgress, isCancelled: reporter.isCancelled)
        var bad = 0
        try backups.check { backup in
            if backup.problem != nil { bad += 1 }
            reporter.result(
                backup.problem == nil ? "good  " + backup.text() : reporter.style.red("bad") + "   " + backup.text(),
                record: backup.record(in: folder.path, backup.problem == nil ? .good : .bad)
            )
        }
        return Ending(bad > 0 ? .findings : .done)
    }
}
