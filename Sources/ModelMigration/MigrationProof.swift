package import StoreFormat

/// Compares a migrated store with its source: every value and reference that the mapping keeps must be equal.
///
/// It reads the rows of both stores side by side in the order of their primary keys, one at a time. The statements that
/// migrated the store are not used.
package struct MigrationProof {
    /// A column of the source and the column that keeps its values.
    private struct Column {
        let subject: String
        let source: String
        let migrated: String
    }

    private let plan: MigrationPlan
    private let layout: StoreLayout
    private let source: StoreConnection
    private let migrated: StoreConnection

    /// Prepares to compare `migrated`, a copy of `source` that was migrated to `target`.
    package init(
        of migrated: StoreConnection,
        migratedFrom source: StoreConnection,
        to target: MigrationTarget
    ) throws {
        let store = try SourceStore(source, target: target)
        let mapping = try InferredMapping(from: store.model, to: target.model, checking: source.checkCancellation)
        plan = try MigrationPlan(store, to: target, mapping)
        guard let layout = try StoreLayout(reading: migrated) else {
            throw StoreError(.failed, path: migrated.location.path, "the migrated store has no model")
        }
        (self.layout, self.source, self.migrated) = (layout, source, migrated)
    }

    /// The entities and properties, as `Entity.property`, whose rows or values differ; empty for a correct migration.
    package func differences(monitor: WorkMonitor = .silent) throws -> [String] {
        var differences: [String] = []
        for mapping in plan.mapping.entities {
            guard let name = mapping.source, let former = plan.source.layout.entities[name], !former.isAbstract,
                let entity = layout.entities[mapping.target], !entity.isAbstract
            else { continue }
            try monitor.checkCancellation()
            let columns = columns(mapping, former, entity)
            if let difference = try difference(columns, former, entity) { differences.append(difference) }
        }
        return differences
    }

    private func difference(
        _ columns: [Column],
        _ former: StoreLayout.Entity,
        _ entity: StoreLayout.Entity
    ) throws -> String? {
        let before = try source.cursor(statement(columns.map(\.source), former, plan.source.layout))
        let after = try migrated.cursor(statement(columns.map(\.migrated), entity, layout))
        while true {
            let (isRow, isOther) = try (before.next(), after.next())
            guard isRow, isOther else { return isRow == isOther ? nil : entity.name }
            let column = before.withRow { row in
                after.withRow { other in columns.indices.first { !row.holds($0, sameAs: other, $0) } }
            }
            if let column { return columns[column].subject }
        }
    }

    private func statement(_ columns: [String], _ entity: StoreLayout.Entity, _ layout: StoreLayout) -> String {
        // The rows of a table with one entity belong to it: some genuine rows have another number.
        let isSole = layout.entities(inTable: entity.table).count { !$0.isAbstract } == 1
        return "SELECT \(columns.map(SQLName.quoted).joined(separator: ", ")) FROM \(SQLName.quoted(entity.table))"
            + (isSole ? "" : " WHERE Z_ENT = \(entity.number)") + " ORDER BY Z_PK"
    }

    /// The columns whose values stay byte for byte.
    private func columns(
        _ mapping: EntityMapping,
        _ former: StoreLayout.Entity,
        _ entity: StoreLayout.Entity
    ) -> [Column] {
        var columns = ["Z_PK", "Z_OPT"].map { Column(subject: entity.name, source: $0, migrated: $0) }
        for attribute in mapping.attributes {
            guard let source = attribute.source, keepsValues(attribute.target, of: source),
                let before = former.attribute(source.name), let after = entity.attribute(attribute.target.name)
            else { continue }
            columns.append(
                Column(
                    subject: "\(entity.name).\(attribute.target.name)",
                    source: before.column,
                    migrated: after.column
                )
            )
        }
        for relationship in mapping.relationships {
            guard let source = relationship.source,
                case .toOne(let before)? = former.relationship(source.name)?.storage,
                case .toOne(let after)? = entity.relationship(relationship.target.name)?.storage,
                plan.lost(from: source.destination, to: relationship.target.destination).isEmpty
            else { continue }
            columns.append(
                Column(
                    subject: "\(entity.name).\(relationship.target.name)",
                    source: before.column,
                    migrated: after.column
                )
            )
        }
        return columns
    }

    /// False where rows get a default, a derived value, or another form of external storage.
    private func keepsValues(_ target: AttributeDescription, of source: AttributeDescription) -> Bool {
        !target.isDerived && target.allowsExternalBinaryDataStorage == source.allowsExternalBinaryDataStorage
            && (target.isOptional || !source.isOptional)
    }
}
