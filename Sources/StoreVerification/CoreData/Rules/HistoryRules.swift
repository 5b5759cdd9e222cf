package import StoreAccess

/// Every change belongs to a transaction, and a transaction changes an object at most once.
struct HistoryRule: CoreDataRule {
    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws {
        guard store.has(["Z_PK", "ZTRANSACTIONID", "ZENTITY", "ZENTITYPK"], in: "ACHANGE"),
            store.has(["Z_PK"], in: "ATRANSACTION")
        else { return }
        try store.connection.forEachRow(
            """
            SELECT c.Z_PK FROM ACHANGE AS c NOT INDEXED
            WHERE NOT EXISTS (SELECT 1 FROM ATRANSACTION AS t WHERE t.Z_PK = c.ZTRANSACTIONID)
            """
        ) { row in
            findings.report(
                .orphanChange,
                .error,
                "a change of the history belongs to no transaction",
                table: "ACHANGE",
                key: row.integer(0)
            )
        }
        try store.connection.forEachRow(
            """
            SELECT max(Z_PK) FROM ACHANGE GROUP BY ZTRANSACTIONID, ZENTITY, ZENTITYPK HAVING count(*) > 1
            """
        ) { row in
            findings.report(
                .repeatedChange,
                .error,
                "a transaction of the history changes an object twice",
                table: "ACHANGE",
                key: row.integer(0)
            )
        }
    }
}

extension Finding.Code {
    /// A change whose transaction is missing.
    package static let orphanChange = Self(rawValue: "orphanChange")
    /// Two changes of one object in one transaction.
    package static let repeatedChange = Self(rawValue: "repeatedChange")
}

/// The times of the history's transactions ascend; where they do not, a clock was set back.
struct HistoryTimeRule: CoreDataRule {
    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws {
        guard store.has(["Z_PK", "ZTIMESTAMP"], in: "ATRANSACTION") else { return }
        var latest = -Double.infinity
        try store.connection.forEachRow(
            "SELECT Z_PK, ZTIMESTAMP FROM ATRANSACTION NOT INDEXED WHERE ZTIMESTAMP IS NOT NULL ORDER BY Z_PK"
        ) { row in
            let time = row.real(1)
            if time < latest {
                findings.report(
                    .historyTimeBackwards,
                    .warning,
                    "a transaction of the history is dated before the one it follows",
                    table: "ATRANSACTION",
                    key: row.integer(0)
                )
            }
            latest = time
        }
    }
}

extension Finding.Code {
    /// A later transaction has an earlier time.
    package static let historyTimeBackwards = Self(rawValue: "historyTimeBackwards")
}

/// Only an update lists its changed properties, with as many bits as its entity has properties.
struct HistoryColumnsRule: CoreDataRule {
    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws {
        guard store.has(["Z_PK", "ZCHANGETYPE", "ZENTITY", "ZCOLUMNS"], in: "ACHANGE") else { return }
        try store.connection.forEachRow(
            "SELECT Z_PK FROM ACHANGE NOT INDEXED WHERE ZCHANGETYPE = 0 AND ZCOLUMNS IS NOT NULL"
        ) { row in
            findings.report(
                .historyColumns,
                .error,
                "an insertion in the history names changed properties",
                table: "ACHANGE",
                key: row.integer(0)
            )
        }
        let lengths = store.historyColumnLengths.sorted { $0.key < $1.key }
        guard !lengths.isEmpty else { return }
        let cases = lengths.map { "WHEN \($0.key) THEN \($0.value)" }.joined(separator: " ")
        try store.connection.forEachRow(
            """
            SELECT Z_PK FROM ACHANGE NOT INDEXED
            WHERE ZCHANGETYPE = 1 AND ZENTITY IN (\(store.list(lengths.map(\.key))))
            AND length(ZCOLUMNS) IS NOT CASE ZENTITY \(cases) END
            """
        ) { row in
            findings.report(
                .historyColumns,
                .error,
                "an update in the history has another number of properties than its entity",
                table: "ACHANGE",
                key: row.integer(0)
            )
        }
    }
}

extension Finding.Code {
    /// The list of changed properties of a history row does not fit its kind or entity.
    package static let historyColumns = Self(rawValue: "historyColumns")
}
