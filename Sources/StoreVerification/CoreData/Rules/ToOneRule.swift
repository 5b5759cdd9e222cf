package import StoreFormat

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
