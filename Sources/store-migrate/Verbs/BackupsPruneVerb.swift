import ArgumentParser
import StoreBackup
import StoreMigration

/// `backups prune DIR`: removes what a policy does not keep.
struct BackupsPruneVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Removes the archives that no rule keeps, for each store by itself, and never its last good one."
    )
    static let words = ["backups", "prune"]
    static let outcomes: [MigrationOutcome] = [.done, .nothingFound, .foundButUnreadable, .notWritable, .noSpace]

    @Argument(help: "A folder of archives.")
    var folder: PathArgument

    @Option(help: ArgumentHelp("Keep the last ones.", valueName: "count"), transform: RelayExtent.count)
    var keepLast: Int?

    @Option(
        help: ArgumentHelp("Keep the last of each of so many days.", valueName: "count"),
        transform: RelayExtent.count
    )
    var keepDaily: Int?

    @Option(help: ArgumentHelp("The same of weeks.", valueName: "count"), transform: RelayExtent.count)
    var keepWeekly: Int?

    @Option(help: ArgumentHelp("The same of months.", valueName: "count"), transform: RelayExtent.count)
    var keepMonthly: Int?

    @Flag(name: [.customShort("n"), .customLong("dry-run")], help: "Say what would be removed, and remove nothing.")
    var isDryRun = false

    @OptionGroup var reporting: ReportingOptions

    private var policy: RetentionPolicy {
        RetentionPolicy(
            last: keepLast ?? 0,
            daily: keepDaily ?? 0,
            weekly: keepWeekly ?? 0,
            monthly: keepMonthly ?? 0
        )
    }

    func validate() throws {
        if policy.isEmpty { throw ValidationError("say what to keep: --keep-last, -daily, -weekly or -monthly COUNT") }
    }

    func perform(_ reporter: Reporter) throws -> Ending {
        let backups = BackupFolder(at: folder.url, onProgress: reporter.onProgress, isCancelled: reporter.isCancelled)
        let pruning = try backups.prune(policy, isRehearsal: isDryRun)
        let going = isDryRun ? "would be removed  " : "removed  "
        for (words, list, state) in [
            ("kept  ", pruning.kept, BackupState.kept), (going, pruning.removed, .removed),
            ("left alone  ", pruning.leftAlone, .leftAlone),
        ] {
            for backup in list {
                reporter.result(words + backup.text(), record: backup.record(in: folder.path, state))
            }
        }
        return Ending(.done)
    }
}
