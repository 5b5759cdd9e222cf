package import StoreFormat

/// A to-one relationship leads to an object that exists and is of the relationship's destination.
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
                    "the relationship \(relationship.name) leads to an object that does not exist",
                    entity: relationship.entity,
                    table: relationship.table,
                    key: row.integer(0)
                )
            }
        }
    }

    /// False when every key that the column holds is one of the destination's.
    ///
    /// An index gives each key once and in order, which spares a large table one search for each of its rows. Rows that
    /// are none of the relationship's are asked about too, so that true says nothing yet.
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
    /// A relationship leads to no object.
    package static let danglingRelationship = Self(rawValue: "danglingRelationship")
}
