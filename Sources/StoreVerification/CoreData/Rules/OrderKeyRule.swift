package import StoreFormat

/// In an ordered relationship no two objects have the same position.
struct OrderKeyRule: CoreDataRule {
    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws {
        for relationship in store.toOnes {
            guard let order = relationship.orderColumn else { continue }
            let columns = [relationship.column, order].map(SQLName.quoted)
            try report(
                """
                SELECT max(Z_PK) FROM \(SQLName.quoted(relationship.table))
                WHERE \(columns[0]) IS NOT NULL AND \(columns[1]) IS NOT NULL
                AND \(store.condition(for: relationship.entities, in: relationship.table))
                GROUP BY \(columns[0]), \(columns[1]) HAVING count(*) > 1
                """,
                relationship.entity,
                relationship.table,
                store,
                &findings
            )
        }
        for join in store.joins {
            for side in join.sides {
                guard let order = side.orderColumn else { continue }
                let columns = [side.column, order].map(SQLName.quoted)
                try report(
                    """
                    SELECT \(columns[0]) FROM \(SQLName.quoted(join.table)) WHERE \(columns[1]) IS NOT NULL
                    GROUP BY \(columns[0]), \(columns[1]) HAVING count(*) > 1
                    """,
                    side.entity,
                    join.table,
                    store,
                    &findings
                )
            }
        }
    }

    private func report(
        _ sql: String,
        _ entity: String,
        _ table: String,
        _ store: CoreDataStore,
        _ findings: inout FindingList
    ) throws {
        try store.connection.forEachRow(sql) { row in
            findings.report(
                .repeatedOrderKey,
                .warning,
                "two objects have the same position in an ordered relationship",
                entity: entity,
                table: table,
                key: row.integer(0)
            )
        }
    }
}

extension Finding.Code {
    /// Two objects have the same position in an ordered relationship.
    package static let repeatedOrderKey = Self(rawValue: "repeatedOrderKey")
}
