package import StoreFormat

/// Every row of a join table joins two objects that exist.
struct JoinTableRule: CoreDataRule {
    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws {
        for join in store.joins {
            for side in join.sides {
                let column = "j." + SQLName.quoted(side.column)
                try store.connection.forEachRow(
                    """
                    SELECT \(column) FROM \(SQLName.quoted(join.table)) AS j
                    WHERE \(column) IS NULL OR NOT EXISTS (
                        SELECT 1 FROM \(SQLName.quoted(side.table)) AS d WHERE d.Z_PK = \(column)
                        AND \(store.condition(for: side.entities, in: side.table, alias: "d.")))
                    """
                ) { row in
                    findings.report(
                        .danglingJoin,
                        .error,
                        "a row of the join table names an object that does not exist",
                        entity: side.entity,
                        table: join.table,
                        key: row.isNull(0) ? nil : row.integer(0)
                    )
                }
            }
        }
    }
}

extension Finding.Code {
    /// A row of a join table names a missing object; the finding's key is that object's.
    package static let danglingJoin = Self(rawValue: "danglingJoin")
}
