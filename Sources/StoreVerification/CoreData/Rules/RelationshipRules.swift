package import StoreAccess

/// A to-one relationship refers to an existing object of its destination entity.
struct ToOneRule: CoreDataRule {
    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws {
        for relationship in store.toOnes where try mayDangle(relationship, in: store) {
            let column = SQLName.quoted(relationship.column)
            let destination = store.condition(
                for: relationship.destinationEntities,
                in: relationship.destinationTable,
                alias: "d."
            )
            try store.connection.forEachRow(
                """
                SELECT s.Z_PK FROM \(SQLName.quoted(relationship.table)) AS s
                WHERE s.\(column) IS NOT NULL
                AND \(store.condition(for: relationship.entities, in: relationship.table, alias: "s."))
                AND NOT EXISTS (SELECT 1 FROM \(SQLName.quoted(relationship.destinationTable)) AS d
                    WHERE d.Z_PK = s.\(column) AND \(destination))
                """
            ) { row in
                findings.report(
                    .danglingRelationship,
                    .error,
                    "the relationship \(relationship.name) refers to an object that does not exist",
                    entity: relationship.entity,
                    table: relationship.table,
                    key: row.integer(0)
                )
            }
        }
    }

    /// False when every key in the column belongs to an object of the destination.
    ///
    /// An index lists each key once and in order, which avoids one search per row of a large table. It includes rows that do
    /// not have the relationship, so true does not prove a dangling key.
    private func mayDangle(_ relationship: CoreDataStore.ToOne, in store: CoreDataStore) throws -> Bool {
        let indexes = store.schema.table(named: relationship.table)?.indexes ?? []
        guard let index = indexes.first(where: { !$0.isPartial && $0.columns.first?.name == relationship.column })
        else { return true }
        let destination = store.condition(
            for: relationship.destinationEntities,
            in: relationship.destinationTable,
            alias: "d."
        )
        return try store.connection.value(
            """
            SELECT 1 FROM (SELECT DISTINCT \(SQLName.quoted(relationship.column)) AS k
                FROM \(SQLName.quoted(relationship.table)) INDEXED BY \(SQLName.quoted(index.name))) AS s
            WHERE s.k IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM \(SQLName.quoted(relationship.destinationTable)) AS d
                WHERE d.Z_PK = s.k AND \(destination)) LIMIT 1
            """
        ) != nil
    }
}

extension Finding.Code {
    /// A relationship refers to a missing object.
    package static let danglingRelationship = Self(rawValue: "danglingRelationship")
}

/// The destination of a one-to-one relationship refers back.
struct InverseToOneRule: CoreDataRule {
    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws {
        for relationship in store.toOnes {
            guard let inverse = relationship.inverseColumn else { continue }
            let key = "s." + SQLName.quoted(relationship.column)
            try store.connection.forEachRow(
                """
                SELECT s.Z_PK FROM \(SQLName.quoted(relationship.table)) AS s
                JOIN \(SQLName.quoted(relationship.destinationTable)) AS d ON d.Z_PK = \(key)
                WHERE \(store.condition(for: relationship.entities, in: relationship.table, alias: "s."))
                AND d.\(SQLName.quoted(inverse)) IS NOT s.Z_PK
                """
            ) { row in
                findings.report(
                    .inverseDisagrees,
                    .error,
                    "the relationship \(relationship.name) refers to an object that does not refer back",
                    entity: relationship.entity,
                    table: relationship.table,
                    key: row.integer(0)
                )
            }
        }
    }
}

extension Finding.Code {
    /// The two sides of a one-to-one relationship do not agree.
    package static let inverseDisagrees = Self(rawValue: "inverseDisagrees")
}

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
