package import StoreFormat

/// Every row belongs to an entity of its table, and to one that is not abstract.
struct ConcreteEntityRule: CoreDataRule {
    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws {
        for root in store.roots {
            let known = store.entityNumbers.subtree(of: root.entry.number)
            let abstract = known.filter(store.isAbstract)
            let concrete = known.filter { !store.isAbstract($0) }
            try store.connection.forEachRow(
                """
                SELECT Z_PK, Z_ENT IS NOT NULL AND Z_ENT IN (\(store.list(abstract)))
                FROM \(SQLName.quoted(root.table)) NOT INDEXED
                WHERE Z_ENT IS NULL OR Z_ENT NOT IN (\(store.list(concrete)))
                """
            ) { row in
                if row.integer(1) != 0 {
                    findings.report(
                        .abstractEntity,
                        .error,
                        "an object belongs to an abstract entity",
                        entity: root.entry.name,
                        table: root.table,
                        key: row.integer(0)
                    )
                } else {
                    findings.report(
                        .wrongEntity,
                        .error,
                        "an object's entity (Z_ENT) does not belong to this table",
                        entity: root.entry.name,
                        table: root.table,
                        key: row.integer(0)
                    )
                }
            }
        }
    }
}

extension Finding.Code {
    /// A row's entity is abstract.
    package static let abstractEntity = Self(rawValue: "abstractEntity")
    /// A row's entity does not belong to its table.
    package static let wrongEntity = Self(rawValue: "wrongEntity")
}
