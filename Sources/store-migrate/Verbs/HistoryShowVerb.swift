import ArgumentParser
import ManagedObjects
import StoreAccess
import StoreFormat
import StoreMigration

/// `history STORE`: the transactions of a Core Data store, and what each author wrote.
struct HistoryShowVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows the transactions of a store's history, and what each author wrote; writes nothing.",
        discussion: "Habit +2 ~1 -3 means two objects inserted, one updated and three deleted."
    )
    static let words = ["history"]
    static let outcomes: [MigrationOutcome] = [
        .done, .nothingFound, .busy, .foundButUnreadable, .orphanSidecar, .incompatible, .noSpace,
    ]

    @OptionGroup var named: StoreArguments

    @OptionGroup var options: HistoryOptions
    @OptionGroup var access: AccessOptions
    @OptionGroup var reporting: ReportingOptions

    func perform(_ reporter: Reporter) throws -> Ending {
        let store = try named.store
        _ = try access.layout(of: store.location, reporter)
        let reader = access.historyReader(reporter)
        guard let overview = try reader.overview(of: store.location) else {
            return reporter.showNoHistory(of: store.path)
        }
        for name in options.names where try !reader.knowsAuthor(name, in: store.location) {
            throw Failure(
                outcome: .usage,
                message: name.map { "no transaction is by an author '\($0)'" } ?? "every transaction has an author",
                path: store.path,
                advice: "List the authors with 'store-migrate inspect --show history'."
            )
        }
        reporter.result(overview.extent.text(of: store.path, reporter.style), record: overview.extent.line)
        let findings = expired(overview.extent, of: store)
        reporter.report(findings)
        var table = ObjectTable(widestCell: 100)
        try reader.forEachTransaction(
            options.request,
            in: store.location,
            describedBy: { reporter.isJSON ? $0.record.text : ObjectTable.row($0.cells) },
            { text in
                for line in reporter.isJSON ? [text] : table.lines(adding: text) { reporter.line(line) }
            }
        )
        for line in table.remainingLines() { reporter.line(line) }
        reporter.show(overview.authors.filter { options.authors.isEmpty || options.names.contains($0.name) })
        return Ending(.done, findings: findings.count)
    }

    /// Warns when transactions after the given number were purged: a reader that continues from there missed them.
    private func expired(_ extent: HistorySummary, of store: PathArgument) -> [Finding] {
        guard let after = options.after, after > 0, let first = extent.first, after < first - 1 else { return [] }
        return [
            Finding(
                .historyWasPurged,
                .warning,
                level: .coredata,
                "transactions \(after + 1) to \(first - 1) are no longer kept",
                path: store.path
            )
        ]
    }
}

extension Finding.Code {
    /// The history no longer contains all requested transactions.
    fileprivate static let historyWasPurged = Finding.Code(rawValue: "historyWasPurged")
}
