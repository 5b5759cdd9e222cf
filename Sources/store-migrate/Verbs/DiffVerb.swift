import ArgumentParser
import ChangeMerging
import StoreFormat
import StoreMigration

/// `diff A B`: what two stores hold differently, object by object.
struct DiffVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Shows by entity and object how two stores differ; writes nothing.",
        discussion: """
            Inserted is what only B has, deleted what only A has. With --base, the store both came from, it shows what each \
            of them changed since, and what a merge of B into A would have to decide. Values are shown only with --values.
            """
    )
    static let words = ["diff"]
    static let outcomes: [MigrationOutcome] = [
        .done, .findings, .nothingFound, .busy, .foundButUnreadable, .orphanSidecar, .incompatible,
    ]

    @Argument(help: "The main file of one store.")
    var a: PathArgument

    @Argument(help: "The main file of the other store.")
    var b: PathArgument

    @Option(help: ArgumentHelp("The store that both came from.", valueName: "store"))
    var base: PathArgument?

    @Flag(help: "Show the values of properties that differ, as they are stored.")
    var values = false

    @OptionGroup var access: AccessOptions
    @OptionGroup var reporting: ReportingOptions

    func perform(_ reporter: Reporter) throws -> Ending {
        for location in [a.location, b.location, base?.location].compactMap({ $0 }) {
            _ = try access.layout(of: location, reporter)
        }
        let difference = StoreDifference(
            lockTimeout: access.lockTimeout.duration,
            allowsNetworkFileSystem: access.allowsNetworkFileSystem,
            onProgress: reporter.onProgress,
            isCancelled: reporter.isCancelled
        )
        var table = ObjectTable(widestCell: 100)
        let summary = try difference.compare(
            a.location,
            with: b.location,
            base: base?.location,
            includingValues: values
        ) { object in
            let lines = reporter.isJSON ? [object.record.text] : table.lines(adding: ObjectTable.row(object.cells))
            for line in lines { reporter.line(line) }
        }
        for line in table.remainingLines() { reporter.line(line) }
        reporter.result(
            summary.text(a.path, b.path, reporter.style),
            record: summary.record(a.path, b.path, base: base?.path)
        )
        if reporter.isJSON { for conflict in summary.conflicts { reporter.line(conflict.record.text) } }
        return Ending(summary.isEqual ? .done : .findings)
    }
}
