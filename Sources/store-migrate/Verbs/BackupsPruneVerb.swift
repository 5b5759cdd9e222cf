import ArgumentParser
import StoreBackup
import StoreMigration

/// `backups prune DIR`: removes archives by a retention policy.
struct BackupsPruneVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Removes the archives that no rule keeps, per store, and never a store's last good one."
    )
    static let words = ["backups", "prune"]
    static let outcomes: [MigrationOutcome] = [.done, .nothingFound, .foundButUnreadable, .notWritable, .noSpace]

    @Argument(help: "A folder of archives.")
    var folder: PathArgument

    @Option(help: ArgumentHelp("Keep the last COUNT archives.", valueName: "count"), transform: RelayExtent.count)
    var keepLast: Int?

    @Option(
        help: ArgumentHelp("Keep the last archive of each of COUNT days.", valueName: "count"),
        transform: RelayExtent.count
    )
    var keepDaily: Int?

    @Option(help: ArgumentHelp("The same for weeks.", valueName: "count"), transform: RelayExtent.count)
    var keepWeekly: Int?

    @Option(help: ArgumentHelp("The same for months.", valueName: "count"), transform: RelayExtent.count)
    var keepMonthly: Int?

    @Flag(name: [.customShort("n"), .customLong("dry-run")], help: "Print what would be removed, and remove nothing.")
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
        if policy.isEmpty { throw ValidationError("name what to keep: --keep-last, -daily, -weekly or -monthly COUNT") }
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
