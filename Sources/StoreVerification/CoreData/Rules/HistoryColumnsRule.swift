package import StoreFormat

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
