package import StoreFormat

/// No two objects of an entity share the values of a uniqueness constraint; a missing value never collides.
struct UniquenessRule: CoreDataRule {
    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws {
        for constraint in store.constraints where !isHeldBySQLite(constraint, in: store) {
            let columns = constraint.columns.map(SQLName.quoted)
            let present = columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
            try store.connection.forEachRow(
                """
                SELECT max(Z_PK) FROM \(SQLName.quoted(constraint.table))
                WHERE \(present) AND \(store.condition(for: constraint.entities, in: constraint.table))
                GROUP BY \(columns.joined(separator: ", ")) HAVING count(*) > 1
                """
            ) { row in
                findings.report(
                    .duplicateObject,
                    .error,
                    "an object shares its \(constraint.names.joined(separator: ", ")) with another, which the model forbids",
                    entity: constraint.entity,
                    table: constraint.table,
                    key: row.integer(0)
                )
            }
        }
    }

    /// True where a unique index has the same columns: the level `sqlite` proved it.
    private func isHeldBySQLite(_ constraint: CoreDataStore.Constraint, in store: CoreDataStore) -> Bool {
        let columns = Set(constraint.columns)
        return store.schema.table(named: constraint.table)?.indexes
            .contains { index in
                index.isUnique && !index.isPartial && Set(index.columns.compactMap(\.name)) == columns
                    && index.columns.allSatisfy { $0.name != nil && $0.collation.uppercased() == "BINARY" }
            } ?? false
    }
}

extension Finding.Code {
    /// Two objects have the same values of a uniqueness constraint.
    package static let duplicateObject = Self(rawValue: "duplicateObject")
}
