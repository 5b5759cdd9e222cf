extension PersistentHistory {
    /// Summarizes each author's transactions, in the order of their first ones.
    package func authors(reading connection: StoreConnection) throws -> [HistoryAuthorSummary] {
        let counts =
            changesNameTransactions
            ? "SELECT ZTRANSACTIONID AS number, count(*) AS changes FROM ACHANGE GROUP BY ZTRANSACTIONID"
            : "SELECT NULL AS number, 0 AS changes"
        let sql = """
            SELECT \(name("ZAUTHOR")) AS author, count(*), total(c.changes), min(t.Z_PK), max(t.Z_PK)
            FROM ATRANSACTION t LEFT JOIN (\(counts)) c ON c.number = t.Z_PK GROUP BY author ORDER BY min(t.Z_PK)
            """
        var result: [HistoryAuthorSummary] = []
        try connection.forEachRow(sql) { row in
            result.append(
                HistoryAuthorSummary(
                    name: row.text(0),
                    transactions: row.integer(1),
                    changes: Int64(exactly: row.real(2)) ?? 0,
                    first: row.integer(3),
                    last: row.integer(4)
                )
            )
        }
        return result
    }

    /// True if the store's history contains an author, even after all the author's transactions were purged.
    ///
    /// Strings are never purged, but some of them are names of processes or contexts.
    package func knowsAuthor(_ author: String?, reading connection: StoreConnection) throws -> Bool {
        let value = author.map(SQLValue.text) ?? .null
        let kept = "SELECT 1 FROM ATRANSACTION t WHERE \(name("ZAUTHOR")) IS ? LIMIT 1"
        if try connection.value(kept, [value]) != nil { return true }
        guard hasStringTable, author != nil else { return false }
        return try connection.value("SELECT 1 FROM ATRANSACTIONSTRING WHERE ZNAME = ? LIMIT 1", [value]) != nil
    }
}
