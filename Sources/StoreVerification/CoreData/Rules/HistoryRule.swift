package import StoreFormat

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
