import StoreAccess

/// The rows that one save added to the history tables.
struct HistoryRows {
    private let changes: [PlainTables.Change]

    init(_ changes: [PlainTables.Change]) { self.changes = changes }

    /// The deviations from the object rows that the save changed: each must be recorded once, and no other.
    func problems(
        telling rows: [PlainReading.Row: RowChanges.Fate],
        _ before: PlainReading,
        _ after: PlainReading
    ) -> [String] {
        var problems: [String] = []
        if changes.contains(where: { $0.before != nil }) { problems.append("existing history changed") }
        let transactions = changes.filter { $0.table == "ATRANSACTION" }.compactMap(\.after)
        guard !rows.isEmpty || !changes.isEmpty else { return problems }
        guard transactions.count == 1, let number = transactions[0]["Z_PK"] else {
            return problems + ["\(transactions.count) transactions for one save"]
        }
        let own = changes.filter { $0.table == "ACHANGE" }.sorted { $0.rowID < $1.rowID }.compactMap(\.after)
        var recorded: [PlainReading.Row: Int64] = [:]
        for change in own {
            guard let entity = change["ZENTITY"]?.integer.flatMap(before.names.name(numbered:)),
                let key = change["ZENTITYPK"]?.integer, let kind = change["ZCHANGETYPE"]?.integer
            else {
                problems.append("a change without an object")
                continue
            }
            let row = PlainReading.Row(table: before.names.table(of: entity), key: key)
            if recorded.updateValue(kind, forKey: row) != nil { problems.append("two changes of one object") }
            if change["ZTRANSACTIONID"] != number { problems.append("a change of another transaction") }
            let concrete = (kind == 2 ? before : after).entity(of: row)
            if concrete != entity {
                problems.append("a change names \(entity) for a \(concrete ?? "missing row")")
            }
        }
        let kinds = own.compactMap { $0["ZCHANGETYPE"]?.integer }
        if kinds != kinds.sorted() { problems.append("insertions, updates and deletions in another order") }
        let expected = rows.mapValues { fate -> Int64 in
            switch fate {
            case .came: 0
            case .changed: 1
            case .went: 2
            }
        }
        if recorded != expected { problems.append("history records \(recorded), not \(expected)") }
        return problems
    }
}
