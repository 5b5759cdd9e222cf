internal import FoundationEssentials
internal import StoreFormat

/// The part of a history that may be purged: old enough, and acknowledged by every registered consumer.
struct HistoryCut {
    /// The last transaction that may be purged; nil when no consumer is registered, and thus nothing may be.
    let last: Int64?
    let result: HistoryPruner.Result

    /// Computes the cut in the snapshot that the connection reads.
    init(reading connection: StoreConnection, olderThan date: Date) throws {
        let consumers = try HistoryConsumers(reading: connection).transactionNumbers
        guard let slowest = consumers.min(by: { ($0.value, $0.key) < ($1.value, $1.key) }) else {
            last = nil
            result = HistoryPruner.Result(transactions: 0, changes: 0, consumers: 0, slowestConsumer: nil)
            return
        }
        let mirror = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name LIKE 'ANSCK%' LIMIT 1"
        guard try connection.value(mirror) == nil else {
            last = nil
            result = HistoryPruner.Result(
                transactions: 0,
                changes: 0,
                consumers: consumers.count,
                slowestConsumer: nil,
                isMirrored: true
            )
            return
        }
        // Timestamps need not ascend with numbers: stop before the first transaction that is too young.
        let young = try connection.value(
            "SELECT min(Z_PK) FROM ATRANSACTION WHERE ZTIMESTAMP >= ? OR ZTIMESTAMP IS NULL",
            // A date that is NaN purges nothing.
            [.real(date.timeIntervalSinceReferenceDate.isNaN ? -.infinity : date.timeIntervalSinceReferenceDate)]
        )?
        .integer
        let byAge =
            try young.map { max($0, .min + 1) - 1 } ?? connection.value("SELECT max(Z_PK) FROM ATRANSACTION")?.integer
            ?? 0
        let last = min(slowest.value, byAge)
        self.last = last
        let count = { (rows: String) in
            Int(clamping: try connection.value("SELECT count(*) FROM " + rows, [.integer(last)])?.integer ?? 0)
        }
        result = HistoryPruner.Result(
            transactions: try count("ATRANSACTION WHERE Z_PK <= ?"),
            changes: try count("ACHANGE WHERE ZTRANSACTIONID <= ?"),
            consumers: consumers.count,
            slowestConsumer: slowest.value < byAge ? slowest.key : nil
        )
    }
}
