import ArgumentParser
import FoundationEssentials
import ManagedObjects
import StoreAccess
import StoreFormat
import StoreMigration
import StoreStrategies

/// `history prune STORE --keep DURATION`: purges the history that every consumer has read.
struct HistoryPruneVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Purges old history that every registered consumer has read.",
        discussion: "Without a registered consumer nothing is purged, because a reader may still need it."
    )
    static let words = ["history", "prune"]
    static let outcomes: [MigrationOutcome] = [
        .done, .nothingFound, .busy, .foundButUnreadable, .notWritable, .orphanSidecar, .incompatible, .noSpace,
    ]

    @OptionGroup var named: StoreArguments

    @Option(
        help: ArgumentHelp("Keep newer transactions: 12h, 7d, 4w.", valueName: "duration"),
        transform: KeepDuration.init(argument:)
    )
    var keep: KeepDuration

    @Flag(name: [.customShort("n"), .customLong("dry-run")], help: "Print what would be purged, and purge nothing.")
    var isDryRun = false

    @OptionGroup var access: AccessOptions
    @OptionGroup var reporting: ReportingOptions

    func perform(_ reporter: Reporter) throws -> Ending {
        let store = try named.store
        let cutoff = keep.cutoff
        let inspection = try access.layout(of: store.location, reporter)
        let preview = try access.historyReader(reporter).prunableHistory(of: store.location, olderThan: cutoff)
        guard var result = preview else { return reporter.showNoHistory(of: store.path) }
        if let fence = inspection.fence {
            throw Failure(
                outcome: .notWritable,
                message: "the store was shared and refuses writes",
                path: store.path,
                advice: "Prune the history of \(fence.newPath)."
            )
        }
        if !isDryRun, result.transactions > 0 { result = try prune(store, olderThan: cutoff) }
        reporter.result(
            result.text(of: store.path, isDryRun: isDryRun),
            record: result.record(of: store.path, before: cutoff, isDryRun: isDryRun)
        )
        return Ending(.done)
    }

    private func prune(_ store: PathArgument, olderThan cutoff: Date) throws -> HistoryPruner.Result {
        try ToolSurroundings.current.becomeOwner(of: store.url)
        var description = PersistentStoreDescription(url: store.url)
        description.isHistoryTrackingEnabled = true
        description.timeout = Double(access.lockTimeout.milliseconds) / 1000
        let coordinator = PersistentStoreCoordinator()
        let opened = try coordinator.addPersistentStore(with: description)
        defer { coordinator.remove(opened) }
        return try HistoryPruner(coordinator).prune(opened, olderThan: cutoff)
    }
}
