package import StoreFormat

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
