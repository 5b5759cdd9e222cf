package import SafeFiles
package import StoreAccess
import StoreFormat

/// Compares a migrated store with its source: every value and reference that the mapping keeps must be equal.
///
/// It reads the rows of both stores side by side in the order of their keys, one at a time. The statements that
/// migrated the store are not used. Tables outside the model are compared by their digests. A table whose pages are the
/// same bytes in both stores is not read where its columns kept their places.
package struct MigrationProof {
    let plan: MigrationPlan
    let layout: StoreLayout
    private let schema: StoreSchema
    let source: StoreConnection
    let migrated: StoreConnection
    private let external: Directory?
    /// Nil if the pages of the stores cannot be compared.
    private let pages: UnchangedPages?

    /// Prepares to compare `migrated`, a copy of `source` that was migrated to `target`; `external` is the folder of
    /// the source's external files.
    package init(
        of migrated: StoreConnection,
        migratedFrom source: StoreConnection,
        to target: MigrationTarget,
        external: Directory? = nil
    ) throws {
        let store = try SourceStore(source, target: target)
        let mapping = try InferredMapping(from: store.model, to: target.model, checking: source.checkCancellation)
        plan = try MigrationPlan(store, to: target, mapping)
        guard let layout = try StoreLayout(reading: migrated) else {
            throw StoreError(.failed, path: migrated.location.path, "the migrated store has no model")
        }
        (self.layout, self.source, self.migrated, self.external) = (layout, source, migrated, external)
        schema = try StoreSchema(reading: migrated)
        pages = try UnchangedPages(in: migrated, since: source)
    }

    /// The entities, properties as `Entity.property`, and other tables whose rows or values differ; empty for a correct
    /// migration.
    package func differences(monitor: WorkMonitor = .silent) throws -> [String] {
        var differences: [String] = []
        for mapping in plan.mapping.entities {
            guard let name = mapping.source, let former = plan.source.layout.entities[name], !former.isAbstract,
                let entity = layout.entities[mapping.target], !entity.isAbstract
            else { continue }
            try monitor.checkCancellation()
            let columns = columns(mapping, former, entity)
            if try !arePagesEqual(columns, former, entity), let difference = try difference(columns, former, entity) {
                differences.append(difference)
            }
            for relationship in mapping.relationships {
                try monitor.checkCancellation()
                guard let pairs = linkStatements(relationship, former, entity), try differ(pairs) else { continue }
                differences.append("\(entity.name).\(relationship.target.name)")
            }
        }
        return try differences + otherTables(monitor)
    }

    /// The tables outside the model that differ.
    private func otherTables(_ monitor: WorkMonitor) throws -> [String] {
        let entities = plan.source.layout.entities.values.map(\.table)
        let modelled = Set((entities + plan.source.layout.joinTables.map(\.name)).map { $0.uppercased() })
        return try plan.source.schema.tables
            .filter { table in
                guard StoreDigest.covers(table), !modelled.contains(table.name.uppercased()),
                    !StoreSchema.isCoreDataBook(table.name) || table.name.uppercased().hasPrefix("ANSCK")
                else { return false }
                guard let copy = schema.table(named: table.name), copy.columns == table.columns else { return true }
                if try table.sql == copy.sql && pages?.hold(table.name) == true { return false }
                let (before, after) = try (
                    StoreDigest.digest(of: table, in: source, monitor: monitor),
                    StoreDigest.digest(of: copy, in: migrated, monitor: monitor)
                )
                return (before.rows, before.digest) != (after.rows, after.digest)
            }
            .map(\.name)
    }

    // MARK: Columns

    /// True if both stores have the same rows of an entity in the same pages, each compared column in its place.
    ///
    /// A record has its values in the order of the columns; those that it lacks are defaults. The type matters: SQLite
    /// reads an integer in a column of reals as a real.
    private func arePagesEqual(
        _ columns: [ComparedColumn],
        _ former: StoreLayout.Entity,
        _ entity: StoreLayout.Entity
    ) throws -> Bool {
        guard let pages, former.table == entity.table,
            let before = plan.source.schema.table(named: former.table), let after = schema.table(named: entity.table),
            !before.isWithoutRowID, !after.isWithoutRowID,
            Self.condition(former, plan.source.layout) == Self.condition(entity, layout)
        else { return false }
        func place(of column: String, in table: StoreSchema.Table) -> Int? {
            table.columns.firstIndex { $0.name.uppercased() == column.uppercased() }
        }
        let arePlacesEqual = ([("Z_ENT", "Z_ENT")] + columns.map { ($0.source, $0.migrated) })
            .allSatisfy { source, migrated in
                guard let index = place(of: source, in: before), index == place(of: migrated, in: after) else {
                    return false
                }
                return before.columns[index].isStored(like: after.columns[index])
                    && (before.columns[index].name == before.rowIDAlias)
                        == (after.columns[index].name == after.rowIDAlias)
            }
        // A virtual column has no place in a record.
        return try arePlacesEqual && !(before.columns + after.columns).contains { $0.isGenerated }
            && columns.allSatisfy { [.bytes, .bytesOrNull].contains($0.keeping) }
            && pages.hold(before.name)
    }

    private func difference(
        _ columns: [ComparedColumn],
        _ former: StoreLayout.Entity,
        _ entity: StoreLayout.Entity
    ) throws -> String? {
        try source.referencing(former.table) { isReferred in
            try migrated.referencing(entity.table) { isOtherReferred in
                let before = try source.cursor(
                    statement(columns.map(\.source), former, in: source, plan.source.layout, isReferred)
                )
                let after = try migrated.cursor(
                    statement(columns.map(\.migrated), entity, in: migrated, layout, isOtherReferred)
                )
                while true {
                    let (isRow, isOther) = try (before.next(), after.next())
                    guard isRow, isOther else { return isRow == isOther ? nil : entity.name }
                    let column = try before.withRow { row in
                        try after.withRow { other in
                            try columns.indices.first { try !isKept(columns[$0], $0, row, other, former.table) }
                        }
                    }
                    if let column { return columns[column].subject }
                }
            }
        }
    }

    private func isKept(
        _ column: ComparedColumn,
        _ position: Int,
        _ row: borrowing StoreRow,
        _ other: borrowing StoreRow,
        _ table: String
    ) throws -> Bool {
        if column.keeping == .bytes || column.keeping == .bytesOrNull {
            return column.keeping == .bytesOrNull && row.type(position) == .null
                || row.holds(position, sameAs: other, position)
        }
        func value(_ row: borrowing StoreRow, _ name: String, _ table: String, _ store: StoreConnection) -> SQLValue {
            store.value(
                of: row,
                position,
                at: .cell(table: table, column: name, key: ["Z_PK"], [.integer(row.integer(0))])
            )
        }
        return try ExternalForm(external: external, sources: [source, migrated])
            .isKept(
                value(row, column.source, table, source),
                value(other, column.migrated, table, migrated),
                isExternal: column.keeping == .external
            )
    }

    private func statement(
        _ columns: [String],
        _ entity: StoreLayout.Entity,
        in store: StoreConnection,
        _ layout: StoreLayout,
        _ isReferred: Bool
    ) -> String {
        let selected = columns.map {
            isReferred ? store.reference(to: $0, of: entity.table, rowID: "Z_PK") : SQLName.quoted($0)
        }
        return "SELECT \(selected.joined(separator: ", ")) FROM \(SQLName.quoted(entity.table)) "
            + "WHERE \(Self.condition(entity, layout)) ORDER BY Z_PK"
    }

    /// Selects an entity's rows.
    ///
    /// Those of a table with one entity belong to it: some genuine rows have another number.
    static func condition(_ entity: StoreLayout.Entity, _ layout: StoreLayout) -> String {
        let isSole = layout.entities(inTable: entity.table).count { !$0.isAbstract } == 1
        return isSole ? "1" : "Z_ENT = \(entity.number)"
    }

    /// The columns whose values the migration keeps, the primary key first.
    private func columns(
        _ mapping: EntityMapping,
        _ former: StoreLayout.Entity,
        _ entity: StoreLayout.Entity
    ) -> [ComparedColumn] {
        var columns = ["Z_PK", "Z_OPT"].map { ComparedColumn(subject: entity.name, source: $0, migrated: $0) }
        func add(_ property: String, _ source: String, _ migrated: String, _ keeping: ComparedColumn.Keeping = .bytes) {
            columns.append(
                ComparedColumn(
                    subject: "\(entity.name).\(property)",
                    source: source,
                    migrated: migrated,
                    keeping: keeping
                )
            )
        }
        for attribute in mapping.attributes where !attribute.target.isDerived {
            guard let source = attribute.source, let before = former.attribute(source.name),
                let after = entity.attribute(attribute.target.name)
            else { continue }
            add(
                attribute.target.name,
                before.column,
                after.column,
                ComparedColumn.Keeping(attribute.target, of: source)
            )
        }
        for relationship in mapping.relationships {
            guard let (before, after) = keys(of: relationship, former, entity) else { continue }
            add(relationship.target.name, before.column, after.column)
            guard let order = before.orderColumn, let other = after.orderColumn else { continue }
            add(relationship.target.name, order, other, .bytesOrNull)
        }
        for column in RowMapping.ownColumns(of: former.table, in: plan) where !column.isGenerated {
            add(column.name, column.name, column.name)
        }
        return columns
    }
}

/// A column of the source and the column that keeps its values.
private struct ComparedColumn {
    /// What a migration does to the values.
    enum Keeping {
        case bytes
        /// Null becomes a default or a new order key.
        case bytesOrNull
        /// External storage is permitted now.
        case external
        /// External storage is not permitted any more.
        case inRow

        init(_ target: AttributeDescription, of source: AttributeDescription) {
            if target.allowsExternalBinaryDataStorage != source.allowsExternalBinaryDataStorage {
                self = target.allowsExternalBinaryDataStorage ? .external : .inRow
            } else {
                self = target.isOptional || !source.isOptional ? .bytes : .bytesOrNull
            }
        }
    }

    let subject: String
    let source: String
    let migrated: String
    var keeping = Keeping.bytes
}

extension StoreSchema.Column {
    /// True if equal records have equal values in both columns.
    fileprivate func isStored(like other: Self) -> Bool {
        (declaredType.uppercased(), defaultValue) == (other.declaredType.uppercased(), other.defaultValue)
    }
}

/// References that are not a key in the owner's rows before and after: join rows, and keys that lose destinations.
extension MigrationProof {
    /// The statements that select the members of a relationship in both stores, in one order.
    struct LinkStatements {
        let before: String
        let after: String
        /// True if the third column is an order key.
        let hasPlaces: Bool
    }

    /// The keys of a to-one relationship, if every destination survives.
    func keys(
        of relationship: EntityMapping.Relationship,
        _ former: StoreLayout.Entity,
        _ entity: StoreLayout.Entity
    ) -> (before: StoreLayout.ForeignKey, after: StoreLayout.ForeignKey)? {
        guard let source = relationship.source,
            case .toOne(let before)? = former.relationship(source.name)?.storage,
            case .toOne(let after)? = entity.relationship(relationship.target.name)?.storage,
            plan.lost(from: source.destination, to: relationship.target.destination).isEmpty
        else { return nil }
        return (before, after)
    }

    /// Nil for a new relationship, and where ``keys(of:_:_:)`` or the inverse has the same references.
    func linkStatements(
        _ relationship: EntityMapping.Relationship,
        _ former: StoreLayout.Entity,
        _ entity: StoreLayout.Entity
    ) -> LinkStatements? {
        guard let source = relationship.source, let before = former.relationship(source.name),
            let after = entity.relationship(relationship.target.name), keys(of: relationship, former, entity) == nil
        else { return nil }
        // The other side of a join table has the same rows.
        let isOtherSide =
            if case .manyToMany(_, let side, let other) = after.storage, !after.isOrdered {
                side.column > other.column
            } else if case .oneToMany = after.storage { true } else { false }
        if isOtherSide, let inverse = relationship.target.inverse,
            plan.mapping.entity(relationship.target.destination)?.relationship(inverse)?.source != nil
        {
            return nil
        }
        let lost = plan.lost(from: source.destination, to: relationship.target.destination)
        let keepsOrder = before.isOrdered && after.isOrdered
        return LinkStatements(
            before: Self.links(before, former, plan.source.layout, keepsOrder, without: lost),
            after: Self.links(after, entity, layout, keepsOrder, without: []),
            hasPlaces: keepsOrder
        )
    }

    /// Selects the keys of owner and member, and the order key.
    private static func links(
        _ relationship: StoreLayout.Relationship,
        _ owner: StoreLayout.Entity,
        _ layout: StoreLayout,
        _ keepsOrder: Bool,
        without lost: [Int64]
    ) -> String {
        let table = SQLName.quoted(owner.table)
        let owners = "SELECT Z_PK FROM \(table) WHERE \(condition(owner, layout))"
        var pairs: String
        switch relationship.storage {
        case .toOne(let key):
            let column = SQLName.quoted(key.column)
            pairs =
                "SELECT Z_PK AS owner, \(column) AS member, NULL AS place FROM \(table) "
                + "WHERE \(column) NOT NULL AND \(condition(owner, layout))"
        case .oneToMany(let members, let key):
            let column = SQLName.quoted(key.column)
            pairs =
                "SELECT \(column) AS owner, Z_PK AS member, \(key.orderColumn.map(SQLName.quoted) ?? "NULL") AS place "
                + "FROM \(SQLName.quoted(members)) WHERE \(column) IN (\(owners))"
        case .manyToMany(let join, let side, let other):
            pairs = StoreLayout.JoinTable.pairs(join, side, other) { "\($0) IN (\(owners))" }
        }
        pairs = "SELECT DISTINCT owner, member\(keepsOrder ? ", place" : "") FROM (\(pairs))"
        if !lost.isEmpty, let destination = layout.entities[relationship.description.destination] {
            pairs +=
                " WHERE member NOT IN (SELECT Z_PK FROM \(SQLName.quoted(destination.table)) "
                + "WHERE Z_ENT IN (\(lost.map(String.init).joined(separator: ", "))))"
        }
        return pairs + " ORDER BY owner, member"
    }

    /// True if the stores have different members; an order key that was missing may be new.
    func differ(_ statements: LinkStatements) throws -> Bool {
        let (before, after) = try (source.cursor(statements.before), migrated.cursor(statements.after))
        while true {
            let (isRow, isOther) = try (before.next(), after.next())
            guard isRow, isOther else { return isRow != isOther }
            let isEqual = before.withRow { row in
                after.withRow { other in
                    row.holds(0, sameAs: other, 0) && row.holds(1, sameAs: other, 1)
                        && (!statements.hasPlaces || row.type(2) == .null || row.holds(2, sameAs: other, 2))
                }
            }
            if !isEqual { return true }
        }
    }
}

extension StoreLayout.Relationship {
    /// True if the members have order keys.
    fileprivate var isOrdered: Bool {
        switch storage {
        case .toOne: false
        case .oneToMany(_, let key): key.orderColumn != nil
        case .manyToMany(_, let owner, let other):
            owner.orderColumn != nil && !StoreLayout.JoinTable.isReflexive(owner, other)
        }
    }
}
