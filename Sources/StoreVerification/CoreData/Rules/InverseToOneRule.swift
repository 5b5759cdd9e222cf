package import StoreFormat

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
