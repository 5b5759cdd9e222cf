package import StoreFormat

/// A to-one relationship leads to an object that exists and is of the relationship's destination.
struct ToOneRule: CoreDataRule {
    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws {
        for relationship in store.toOnes {
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
}

extension Finding.Code {
    /// A relationship leads to no object.
    package static let danglingRelationship = Self(rawValue: "danglingRelationship")
}
