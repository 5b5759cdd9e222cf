package import StoreAccess
import StoreFormat

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

/// `Z_MAX` of a root entity is at least the greatest key in its table; else the next insert collides.
struct KeyMaximumRule: CoreDataRule {
    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws {
        for root in store.roots {
            let greatest = try store.count("SELECT max(Z_PK) FROM \(SQLName.quoted(root.table))")
            guard greatest > root.entry.max else { continue }
            findings.report(
                .keyMaximumBehind,
                .error,
                "the last assigned key (Z_MAX) is less than the greatest key of the table: the next object would collide",
                entity: root.entry.name,
                table: root.table
            )
        }
    }
}

extension Finding.Code {
    /// The next object would get the key of an object that exists.
    package static let keyMaximumBehind = Self(rawValue: "keyMaximumBehind")
}
