import StoreAccess
import StoreFormat

/// Values of a property, or objects of an entity, that the target model has no place for.
package struct LostValues: Hashable, Sendable {
    /// The entity of the source, or `Entity.property`.
    package let subject: String
    /// The number of objects.
    package let count: Int64
}

extension ModelMigrator {
    /// The values and objects of the source that the target lacks, by subject; only reads.
    package func lostValues() throws -> [LostValues] {
        var counts: [String: Int64] = [:]
        for entity in plan.source.layout.entities.values where !entity.isAbstract {
            let condition = MigrationProof.condition(entity, plan.source.layout)
            let rows = "\(SQLName.quoted(entity.table)) WHERE \(condition)"
            guard let target = mapping.target(of: entity.name), let kept = mapping.entity(target) else {
                let count = try connection.value("SELECT count(*) FROM \(rows)")?.integer ?? 0
                counts[entity.name, default: 0] += count
                continue
            }
            for (subject, sql) in statements(entity, kept, rows) {
                counts[subject, default: 0] += try connection.value(sql)?.integer ?? 0
            }
        }
        return counts.filter { $0.value > 0 }.map { LostValues(subject: $0.key, count: $0.value) }
            .sorted { $0.subject < $1.subject }
    }

    /// The statements that count the values of an entity's removed properties, each with its subject.
    private func statements(
        _ entity: StoreLayout.Entity,
        _ kept: EntityMapping,
        _ rows: String
    ) -> [(subject: String, sql: String)] {
        let attributes = Set(kept.attributes.compactMap { $0.source?.name })
        let relationships = Set(kept.relationships.compactMap { $0.source?.name })
        var statements: [(subject: String, sql: String)] = []
        for attribute in entity.attributes where !attributes.contains(attribute.description.name) {
            // A derived value is computed from others.
            guard !attribute.description.isDerived else { continue }
            statements.append(
                (
                    "\(attribute.declaredBy).\(attribute.description.name)",
                    "SELECT count(*) FROM \(rows) AND \(SQLName.quoted(attribute.column)) NOT NULL"
                )
            )
        }
        for relationship in entity.relationships where !relationships.contains(relationship.description.name) {
            let subject = "\(relationship.declaredBy).\(relationship.description.name)"
            switch relationship.storage {
            case .toOne(let key):
                let column = SQLName.quoted(key.column)
                statements.append((subject, "SELECT count(*) FROM \(rows) AND \(column) NOT NULL"))
            case .manyToMany(let table, let owner, _):
                let owners = "SELECT \(SQLName.quoted(owner.column)) FROM \(SQLName.quoted(table))"
                statements.append((subject, "SELECT count(*) FROM \(rows) AND Z_PK IN (\(owners))"))
            case .oneToMany:
                // Its inverse has the key; one without an inverse is counted by its members' rows.
                guard relationship.description.inverse == nil,
                    case .oneToMany(let table, let key) = relationship.storage
                else { continue }
                let owners = "SELECT \(SQLName.quoted(key.column)) FROM \(SQLName.quoted(table))"
                statements.append((subject, "SELECT count(*) FROM \(rows) AND Z_PK IN (\(owners))"))
            }
        }
        return statements
    }
}
