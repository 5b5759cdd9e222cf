package import StoreAccess

/// A store's persistent history of its transactions.
///
/// The first generation keeps names of authors and processes in each transaction, the current one in a table of
/// strings. Only the store's present model can decode it: Core Data rewrites it when it migrates the store.
package struct PersistentHistory: Hashable, Sendable {
    /// True if names are in a table of their own.
    package let hasStringTable: Bool
    private let transactionColumns: Set<String>
    private let changeColumns: Set<String>
    /// The columns of tombstones, by their number.
    private let tombstoneColumns: [String]

    /// Finds the tables of the history; nil if the store keeps none.
    package init?(schema: StoreSchema) {
        guard
            let transactions = schema.table(named: "ATRANSACTION"), transactions.holdsRows,
            let changes = schema.table(named: "ACHANGE"), changes.holdsRows,
            transactions.column(named: "Z_PK") != nil, changes.column(named: "Z_PK") != nil
        else { return nil }
        transactionColumns = Set(transactions.columns.map { $0.name.uppercased() })
        changeColumns = Set(changes.columns.map { $0.name.uppercased() })
        let strings = schema.table(named: "ATRANSACTIONSTRING")
        hasStringTable =
            strings?.holdsRows == true && strings?.column(named: "ZNAME") != nil
            && strings?.column(named: "Z_PK") != nil
        // Core Data numbers them from 0 on; a gap ends the list.
        var columns: [String] = []
        while changeColumns.contains("ZTOMBSTONE\(columns.count)") { columns.append("ZTOMBSTONE\(columns.count)") }
        tombstoneColumns = columns
    }

    /// Reads the history's extent.
    package func summary(reading connection: StoreConnection) throws -> HistorySummary {
        var result = HistorySummary(transactions: 0, changes: 0, first: nil, last: nil)
        let sql = """
            SELECT (SELECT count(*) FROM ATRANSACTION), (SELECT count(*) FROM ACHANGE),
            (SELECT min(Z_PK) FROM ATRANSACTION), (SELECT max(Z_PK) FROM ATRANSACTION)
            """
        try connection.forEachRow(sql) { row in
            result = HistorySummary(
                transactions: row.integer(0),
                changes: row.integer(1),
                first: row.wholeNumber(2),
                last: row.wholeNumber(3)
            )
        }
        return result
    }

    /// Calls `body` with each transaction whose number is greater than `number`, in order, streamed.
    package func forEachTransaction(
        reading connection: StoreConnection,
        after number: Int64 = 0,
        _ body: (HistoryTransaction) throws -> Void
    ) throws {
        let sql = """
            SELECT t.Z_PK, \(column("ZTIMESTAMP")), \(name("ZAUTHOR")), \(name("ZCONTEXTNAME")),
            \(name("ZBUNDLEID")), \(name("ZPROCESSID"))
            FROM ATRANSACTION t WHERE t.Z_PK > ? ORDER BY t.Z_PK
            """
        try connection.forEachRow(sql, [.integer(number)]) { row in
            guard let number = row.wholeNumber(0) else { return }
            try body(
                HistoryTransaction(
                    number: number,
                    timestamp: row.value(1).number,
                    author: row.text(2),
                    contextName: row.text(3),
                    bundleID: row.text(4),
                    processID: row.text(5)
                )
            )
        }
    }

    /// Calls `body` with each change of the transactions with greater numbers than `number`, in order, streamed.
    package func forEachChange(
        reading connection: StoreConnection,
        after number: Int64 = 0,
        _ body: (HistoryChange) throws -> Void
    ) throws {
        try forEachChange(
            connection,
            where: number > 0 ? "c.ZTRANSACTIONID > ?" : nil,
            number > 0 ? [.integer(number)] : [],
            body
        )
    }

    /// Calls `body` with each change of one transaction, in order.
    package func forEachChange(
        reading connection: StoreConnection,
        ofTransaction number: Int64,
        _ body: (HistoryChange) throws -> Void
    ) throws {
        try forEachChange(connection, where: "c.ZTRANSACTIONID = ?", [.integer(number)], body)
    }

    private func forEachChange(
        _ connection: StoreConnection,
        where condition: String?,
        _ arguments: [SQLValue],
        _ body: (HistoryChange) throws -> Void
    ) throws {
        guard condition == nil || changesNameTransactions else { return }
        let names = ["ZTRANSACTIONID", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZCOLUMNS"]
            .map { changeColumns.contains($0) ? "c." + $0 : "NULL" }
        let columns = (["c.Z_PK"] + names + tombstoneColumns.map { "c." + $0 }).joined(separator: ", ")
        let restriction = condition.map { "WHERE " + $0 } ?? ""
        // Changes ascend with their transactions, so the index on transactions gives both the start and the order.
        let order = condition == nil ? "c.Z_PK" : "c.ZTRANSACTIONID, c.Z_PK"
        let sql = "SELECT \(columns) FROM ACHANGE c \(restriction) ORDER BY \(order)"
        try connection.forEachRow(sql, arguments) { row in
            guard let number = row.wholeNumber(0) else { return }
            var tombstone: [SQLValue] = []
            for column in 6..<6 + tombstoneColumns.count { tombstone.append(row.value(column)) }
            try body(
                HistoryChange(
                    number: number,
                    transaction: row.wholeNumber(1),
                    kind: row.wholeNumber(2).flatMap(HistoryChange.Kind.init),
                    entity: row.wholeNumber(3),
                    primaryKey: row.wholeNumber(4),
                    columns: row.type(5) == .blob ? row.withBytes(5) { [UInt8]($0) } : nil,
                    tombstone: tombstone
                )
            )
        }
    }

    // MARK: Columns

    /// True if changes record their transaction.
    var changesNameTransactions: Bool { changeColumns.contains("ZTRANSACTIONID") }

    private func column(_ name: String) -> String {
        transactionColumns.contains(name) ? "t." + name : "NULL"
    }

    /// The name in a transaction: the one it refers to, else the one stored in its row.
    func name(_ column: String) -> String {
        let own = self.column(column)
        guard hasStringTable, transactionColumns.contains(column + "TS") else { return own }
        return "coalesce((SELECT s.ZNAME FROM ATRANSACTIONSTRING s WHERE s.Z_PK = t.\(column)TS), \(own))"
    }
}

extension StoreRow {
    /// The integer, if it is stored as one; SQLite would convert other values to 0.
    fileprivate func wholeNumber(_ column: Int) -> Int64? {
        type(column) == .integer ? integer(column) : nil
    }
}

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

/// Which tables of a persistent history exist; Core Data numbers their entities once tracking is enabled.
package struct HistoryTables: Hashable, Sendable {
    /// The names of all such tables.
    package static let all: Set<String> = ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]

    /// The tables that the store has.
    package let present: Set<String>
    /// True once tracking was enabled.
    package let areNumbered: Bool

    package init(present: Set<String> = [], areNumbered: Bool = false) {
        self.present = present
        self.areNumbered = areNumbered
    }
}

extension StoreDigest {
    /// The digest of the same store without tables of its persistent history, and without the numbers of its entities.
    ///
    /// `connection` must be the one that this digest was computed from; only those numbers are read again.
    package func leavingOutHistory(_ history: Set<String>, of connection: StoreConnection) throws -> StoreDigest {
        try leavingOut(
            history,
            limiting: (table: "Z_PRIMARYKEY", rows: "Z_ENT NOT BETWEEN 16001 AND 16003"),
            of: connection
        )
    }
}
