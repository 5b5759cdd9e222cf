import FoundationEssentials
import ManagedObjects
import StoreFormat

extension HistorySummary {
    /// The extent as text.
    func text(of path: String, _ style: Style) -> String {
        let range = first.flatMap { first in last.map { ", \(first) to \($0)" } } ?? ""
        let words = "\(Figures.count(transactions, "transaction")), \(Figures.count(changes, "change"))\(range)"
        return "\(style.bold(Escaped.text(path))): \(words)"
    }
}

extension HistoryEntry {
    /// The transaction as cells of a table.
    var cells: [(column: String, text: String)] {
        [
            ("number", String(transactionNumber)), ("time", timestamp.flatMap(DateText.text) ?? "-"),
            ("author", author ?? "-"), ("process", processID ?? "-"), ("context", contextName ?? "-"),
            ("changes", changes.map(\.text).joined(separator: ", ")),
        ]
    }
}

extension HistoryEntry.Changes {
    /// `Habit +2 ~1 -3`.
    fileprivate var text: String {
        let parts = [("+", inserted), ("~", updated), ("-", deleted)]
        return ([entity] + parts.filter { $0.1 > 0 }.map { "\($0.0)\($0.1)" }).joined(separator: " ")
    }
}

extension HistoryAuthorSummary {
    /// The authors as a table.
    static func text(_ authors: [HistoryAuthorSummary]) -> String {
        TextTable.text(
            authors.map { author in
                [
                    author.name.map(Escaped.text) ?? "(no author)",
                    Figures.count(author.transactions, "transaction"), Figures.count(author.changes, "change"),
                    "\(author.first) to \(author.last)",
                ]
            }
        )
    }
}

extension HistoryPruner.Result {
    /// The result of pruning, as text.
    func text(of path: String, isDryRun: Bool) -> String {
        let name = Escaped.text(path)
        guard consumers > 0 else {
            return "Nothing \(isDryRun ? "would be" : "was") purged: no consumer of the history is registered, "
                + "so a reader may still need it: \(name)"
        }
        guard !isMirrored else {
            return "Nothing \(isDryRun ? "would be" : "was") purged: CloudKit mirrors the store, "
                + "and would upload all objects again: \(name)"
        }
        let known = Figures.count(Int64(consumers), "consumer")
        let reason = slowestConsumer.map { "; '\(Escaped.text($0))' has not read further" } ?? ""
        guard transactions > 0 else {
            return "Nothing \(isDryRun ? "would be" : "was") purged of the history that \(known) "
                + "read\(consumers == 1 ? "s" : "")\(reason): \(name)"
        }
        let what = "\(Figures.count(Int64(transactions), "transaction")), \(Figures.count(Int64(changes), "change"))"
        return "\(isDryRun ? "Would purge" : "Purged") \(what)\(reason): \(name)"
    }
}
