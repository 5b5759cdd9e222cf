import FoundationEssentials
import ManagedObjects
import StoreFormat

extension HistorySummary {
    /// The extent as a line.
    var line: JSONValue { .object([("type", .string("history"))] + members) }

    /// The extent as a member of a store.
    var record: JSONValue { .object(members) }

    private var members: [(String, JSONValue)] {
        [
            ("transactions", .integer(transactions)), ("changes", .integer(changes)), ("first", .optional(first)),
            ("last", .optional(last)),
        ]
    }
}

extension HistoryEntry {
    /// The transaction as an object.
    var record: JSONValue {
        .object([
            ("type", .string("transaction")), ("number", .integer(transactionNumber)),
            ("time", .optional(timestamp.flatMap(DateText.text))), ("author", .optional(author)),
            ("context", .optional(contextName)), ("bundle", .optional(bundleID)), ("process", .optional(processID)),
            (
                "changes",
                .array(
                    changes.map { change in
                        .object([
                            ("entity", .string(change.entity)), ("inserted", .integer(change.inserted)),
                            ("updated", .integer(change.updated)), ("deleted", .integer(change.deleted)),
                        ])
                    }
                )
            ),
        ])
    }
}

extension HistoryAuthorSummary {
    /// The author's transactions and changes, as an object.
    var record: JSONValue {
        .object([
            ("type", .string("author")), ("name", .optional(name)), ("transactions", .integer(transactions)),
            ("changes", .integer(changes)), ("first", .integer(first)), ("last", .integer(last)),
        ])
    }
}

extension HistoryPruner.Result {
    /// The result of pruning, as an object.
    func record(of path: String, before cutoff: Date, isDryRun: Bool) -> JSONValue {
        .object([
            ("type", .string("pruning")), ("path", .string(path)), ("before", .optional(DateText.text(cutoff))),
            ("transactions", .integer(Int64(transactions))), ("changes", .integer(Int64(changes))),
            ("consumers", .integer(Int64(consumers))), ("slowest", .optional(slowestConsumer)),
            ("mirrored", .bool(isMirrored)), ("dryRun", .bool(isDryRun)),
        ])
    }
}
