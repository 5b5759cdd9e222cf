import ArgumentParser
import ChangeMerging
import StoreAccess
import StoreMigration

/// `diff A B`: the differences of two stores, object by object.
struct DiffVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Shows by entity and object how two stores differ; writes nothing.",
        discussion: """
            Inserted means only in B, deleted means only in A. With --base, the store both were copied from, it shows the \
            changes of each since then, and the conflicts of a merge of B into A. Values are shown only with --values. \
            Stores of different model versions are compared in copies that are migrated as migrate would.
            """
    )
    static let words = ["diff"]
    static let outcomes: [MigrationOutcome] = [
        .done, .findings, .nothingFound, .busy, .foundButUnreadable, .orphanSidecar, .incompatible, .noSpace,
    ]

    @Argument(help: "The main file of one store, or a backup.")
    var a: PathArgument

    @Argument(help: "The main file of the other store, or a backup; left out with --group.")
    var b: PathArgument?

    @OptionGroup var group: GroupOptions

    @Option(help: ArgumentHelp("The store that both were copied from, or a backup of it.", valueName: "store"))
    var base: PathArgument?

    @Flag(help: "Show the values of properties that differ, as they are stored.")
    var values = false

    @OptionGroup var access: AccessOptions
    @OptionGroup var reporting: ReportingOptions

    func validate() throws {
        try group.requireComplete(hasOtherStore: true)
        guard (b == nil) != (group.group == nil) else {
            throw ValidationError("name the other store once: B, or --group ID")
        }
    }

    func perform(_ reporter: Reporter) throws -> Ending {
        let other = try b ?? group.path(ofDatabaseLike: a.location)
        return try access.withStore(at: a, reporter) { a in
            try access.withStore(at: other, reporter) { b in
                guard let base else { return try compare(a, b, nil, calling: other, reporter) }
                return try access.withStore(at: base, reporter) { try compare(a, b, $0, calling: other, reporter) }
            }
        }
    }

    private func compare(
        _ first: StoreLocation,
        _ second: StoreLocation,
        _ original: StoreLocation?,
        calling other: PathArgument,
        _ reporter: Reporter
    ) throws -> Ending {
        for location in [first, second, original].compactMap({ $0 }) {
            _ = try access.layout(of: location, reporter)
        }
        let comparison = StoreComparison(
            lockTimeout: access.lockTimeout.duration,
            allowsNetworkFileSystem: access.allowsNetworkFileSystem,
            onProgress: reporter.onProgress,
            isCancelled: reporter.isCancelled
        )
        var table = ObjectTable(widestCell: 100)
        let result = try comparison.compare(
            first,
            with: second,
            base: original,
            named: [a.path, other.path],
            includingValues: values
        ) { object in
            let lines = reporter.isJSON ? [object.record.text] : table.lines(adding: ObjectTable.row(object.cells))
            for line in lines { reporter.line(line) }
        }
        let summary = result.summary
        for line in table.remainingLines() { reporter.line(line) }
        reporter.report(result.findings)
        reporter.result(
            summary.text(a.path, other.path, reporter.style),
            record: summary.record(a.path, other.path, base: base?.path)
        )
        if reporter.isJSON { for conflict in summary.conflicts { reporter.line(conflict.record.text) } }
        return Ending(summary.isEqual ? .done : .findings, findings: reporter.isJSON ? result.findings.count : 0)
    }
}
