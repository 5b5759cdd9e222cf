import StoreAccess
import StoreFormat
import StoreWriting

/// What an app added to a store beside its model, as far as a migration would lose or break it.
///
/// Added columns and plain indexes are kept, and so is everything that refers only to tables which stay as they are.
struct OwnDefinitions {
    private let plan: MigrationPlan
    private let connection: StoreConnection
    private let mappings: [RowMapping]
    /// The tables of the source's model that change or disappear, in upper case.
    private let changed: Set<String>

    private var schema: StoreSchema { plan.source.schema }

    init(_ plan: MigrationPlan, _ connection: StoreConnection) {
        (self.plan, self.connection) = (plan, connection)
        mappings = plan.shape.tables.filter { $0.joinKey == nil }.compactMap { RowMapping(plan, table: $0.name) }
        let unchanged = Set(
            mappings.filter(\.addsNullsOnly).map(\.sourceTable)
                + plan.layout.joinTables.filter { JoinMapping(plan, $0).isUnchanged }.map(\.name)
        )
        let modelled = plan.source.layout.entities.values.map(\.table) + plan.source.layout.joinTables.map(\.name)
        changed = Set(Set(modelled).subtracting(unchanged).map { $0.uppercased() })
    }

    /// What each definition is that the migration cannot keep, and why.
    func losses() throws -> [String] {
        let sourceShape = plan.sourceShape
        var losses = clashes(sourceShape)
        guard !changed.isEmpty || !plan.keepsNumbers else { return losses }
        let known = Set(sourceShape.triggers.map(\.name))
        losses += schema.triggers.filter { !known.contains($0.name) && !$0.name.hasPrefix(StoreFence.prefix) }
            .map { "the trigger \($0.name) may refer to tables that change" }
        guard !changed.isEmpty else { return losses }
        losses += schema.views.map { "the view \($0.name) may refer to tables that change" }
        losses += schema.tables.compactMap { table in
            guard case .virtual = table.kind else { return nil }
            return "the virtual table \(table.name) may refer to tables that change"
        }
        return try losses + references() + columns() + indexes(sourceShape)
    }

    /// Columns and indexes that have the name of one that the target adds.
    private func clashes(_ sourceShape: StoreShape) -> [String] {
        let columns = mappings.flatMap { mapping in
            mapping.clashingColumns.map {
                "the column \($0) of \(mapping.sourceTable) has the name of a new property's"
            }
        }
        let former = Set(sourceShape.indexes.map(\.name))
        let added = Set(plan.shape.indexes.map(\.name)).subtracting(former)
        let indexes = schema.tables.flatMap(\.indexes).filter { $0.origin == .statement && added.contains($0.name) }
        return columns + indexes.map { "the index \($0.name) has the name of one that the target adds" }
    }

    /// Foreign keys of other tables.
    private func references() throws -> [String] {
        let modelled = Set(plan.source.layout.entities.values.map { $0.table.uppercased() })
        var losses: [String] = []
        for table in schema.tables where !modelled.contains(table.name.uppercased()) {
            try connection.forEachRow("PRAGMA foreign_key_list(\(SQLName.quoted(table.name)))", []) { row in
                guard let parent = row.text(2), changed.contains(parent.uppercased()) else { return }
                losses.append("\(table.name) has a foreign key to \(parent), which changes")
            }
        }
        return losses
    }

    /// Added columns that a copied table would not have, or not with their constraints.
    private func columns() throws -> [String] {
        let copied = Dictionary(
            mappings.map { ($0.sourceTable.uppercased(), $0) },
            uniquingKeysWith: { first, _ in first }
        )
        var losses: [String] = []
        for name in Set(plan.source.layout.entities.values.map(\.table)).sorted()
        where changed.contains(name.uppercased()) {
            let own = RowMapping.ownColumns(of: name, in: plan)
            guard !own.isEmpty else { continue }
            let mapping = copied[name.uppercased()]
            if mapping?.inPlace != nil { continue }
            let sql = try connection.value("SELECT sql FROM sqlite_schema WHERE name = ?", [.text(SQLText(name))])?.text
            let isPlain = own.allSatisfy { $0.isPlain } && sql?.uppercased().contains("COLLATE") == false
            if mapping != nil, isPlain { continue }
            losses.append(
                "the columns \(own.map(\.name).joined(separator: ", ")) of \(name) cannot be kept as they are"
            )
        }
        for table in plan.source.layout.joinTables where changed.contains(table.name.uppercased()) {
            let known = [table.first, table.second].flatMap { [$0.column, $0.orderColumn] }
                .compactMap { $0?.uppercased() }
            let own = (schema.table(named: table.name)?.columns ?? []).filter { !known.contains($0.name.uppercased()) }
            guard !own.isEmpty else { continue }
            losses.append("the columns \(own.map(\.name).joined(separator: ", ")) of \(table.name) cannot be kept")
        }
        return losses
    }

    /// Added indexes that say more than where values are.
    private func indexes(_ sourceShape: StoreShape) -> [String] {
        let known = Set(sourceShape.indexes.map(\.name))
        return schema.tables.filter { changed.contains($0.name.uppercased()) }.flatMap(\.indexes)
            .filter { index in
                index.origin == .statement && !known.contains(index.name)
                    && (index.isUnique || index.isPartial || index.columns.contains { $0.name == nil })
            }
            .map { "the index \($0.name) cannot be kept as it is" }
    }
}

extension StoreSchema.Column {
    /// True for a column without constraints, whose type is made of words and numbers.
    fileprivate var isPlain: Bool {
        !isGenerated && !notNull && defaultValue == nil
            && declaredType.unicodeScalars.allSatisfy {
                $0 == " " || $0 == "(" || $0 == ")" || $0 == "," || $0 == "_" || ("0"..."9").contains($0)
                    || ("A"..."Z").contains($0) || ("a"..."z").contains($0)
            }
    }
}
