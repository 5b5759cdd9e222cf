import ManagedObjects
import StoreFormat
import StoreMigration

extension Reporter {
    /// Shows what each author wrote.
    func show(_ authors: [HistoryAuthorSummary]) {
        guard !authors.isEmpty else { return }
        if isJSON {
            for author in authors { line(author.record.text) }
        } else {
            line(HistoryAuthorSummary.text(authors))
        }
    }

    /// Shows a history without its transactions.
    func show(_ overview: HistoryOverview, of path: String) {
        result(overview.extent.text(of: path, style), record: overview.extent.line)
        show(overview.authors)
        for (name, number) in overview.consumers.sorted(by: { $0.key < $1.key }) {
            result(
                "  consumer \(Escaped.text(name)) has read everything up to \(number)",
                record: .object([
                    ("type", .string("consumer")), ("name", .string(name)), ("transaction", .integer(number)),
                ])
            )
        }
    }

    /// Reports that a store keeps no history, with status 0.
    func showNoHistory(of path: String) -> Ending {
        result("\(style.bold(Escaped.text(path))): keeps no history", record: nil)
        guard isJSON else { return Ending(.done) }
        let finding = Finding(.noHistory, .info, level: .coredata, "the store keeps no history", path: path)
        report([finding])
        return Ending(.done, findings: 1)
    }
}

extension Finding.Code {
    /// The store keeps no history, though the call asked for it.
    fileprivate static let noHistory = Finding.Code(rawValue: "noHistory")
}
