package import StoreFormat

/// Where a to-one relationship also records its destination's entity, both are set or neither, and the entity is right.
struct EntityKeyRule: CoreDataRule {
    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws {
        for relationship in store.toOnes {
            guard let entityColumn = relationship.entityColumn else { continue }
            let key = "s." + SQLName.quoted(relationship.column)
            let entity = "s." + SQLName.quoted(entityColumn)
            try store.connection.forEachRow(
                """
                SELECT s.Z_PK, (\(key) IS NULL) <> (\(entity) IS NULL)
                FROM \(SQLName.quoted(relationship.table)) AS s
                LEFT JOIN \(SQLName.quoted(relationship.destinationTable)) AS d ON d.Z_PK = \(key)
                WHERE \(store.condition(for: relationship.entities, in: relationship.table, alias: "s."))
                AND ((\(key) IS NULL) <> (\(entity) IS NULL) OR d.Z_ENT <> \(entity))
                """
            ) { row in
                let message =
                    row.integer(1) != 0
                    ? "the relationship \(relationship.name) has a key without an entity, or an entity without a key"
                    : "the relationship \(relationship.name) records another entity than its object has"
                findings.report(
                    .entityKeyDiffers,
                    .error,
                    message,
                    entity: relationship.entity,
                    table: relationship.table,
                    key: row.integer(0)
                )
            }
        }
    }
}

extension Finding.Code {
    /// The entity that a relationship records is not that of its destination.
    package static let entityKeyDiffers = Self(rawValue: "entityKeyDiffers")
}
