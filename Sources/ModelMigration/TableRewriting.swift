import StoreAccess
import StoreFormat
import StoreWriting

/// Extends or copies the tables of a store, and makes their indexes and triggers those of the target.
struct TableRewriting {
    private let plan: MigrationPlan
    private let connection: StoreConnection
    private(set) var copied: [String] = []
    private(set) var extended: [String] = []
    /// The tables to drop, and the new ones with their final names.
    private var dropped: Set<String> = []
    private var renamed: [(from: String, to: String)] = []
    /// The tables that stay, with the names that the target has.
    private var kept: Set<String> = []

    init(_ plan: MigrationPlan, _ connection: StoreConnection) {
        (self.plan, self.connection) = (plan, connection)
    }

    mutating func run() throws {
        let sourceShape = plan.sourceShape
        let present = Set(plan.source.schema.triggers.map(\.name))
        for trigger in sourceShape.triggers where present.contains(trigger.name) {
            try connection.execute("DROP TRIGGER \(SQLName.quoted(trigger.name))")
        }
        // A copied table may read columns that a change in place renames.
        let tables = plan.shape.tables.filter { $0.joinKey == nil }
        for table in tables where !staysInPlace(table) { try rewrite(table) }
        for table in tables where staysInPlace(table) { try rewrite(table) }
        for table in plan.shape.tables where table.joinKey != nil { try rewriteJoin(table) }
        try dropFormerTables()
        for (from, to) in renamed {
            try connection.execute("ALTER TABLE \(SQLName.quoted(from)) RENAME TO \(SQLName.quoted(to))")
        }
        try writeIndexes(sourceShape)
        for trigger in plan.shape.triggers { try connection.execute(trigger.sql) }
    }

    // MARK: Tables

    private func staysInPlace(_ table: StoreShape.Table) -> Bool {
        guard let mapping = RowMapping(plan, table: table.name) else { return false }
        return mapping.inPlace != nil && keepsConstraints(of: mapping.sourceTable)
    }

    private mutating func rewrite(_ table: StoreShape.Table) throws {
        guard let mapping = RowMapping(plan, table: table.name) else {
            try connection.execute(table.named(Self.interim(table.name)).sql)
            renamed.append((Self.interim(table.name), table.name))
            return
        }
        if let change = mapping.inPlace, keepsConstraints(of: mapping.sourceTable) {
            return try apply(change, of: mapping, to: table)
        }
        let name = Self.interim(table.name)
        var made = table.named(name, adding: mapping.unknownColumns)
        let last = ExternalInlining.columns(of: table.name, in: plan)
        made.columns = made.columns.filter { !last.contains($0.name) } + made.columns.filter { last.contains($0.name) }
        try connection.execute(made.sql)
        try connection.run(mapping.insertion(into: name), mapping.arguments.values)
        dropped.insert(mapping.sourceTable)
        renamed.append((name, table.name))
        copied.append(table.name)
    }

    /// Renames and adds columns of a table that stays, and sets the values of those that need one.
    private mutating func apply(
        _ change: RowMapping.InPlaceChange,
        of mapping: RowMapping,
        to table: StoreShape.Table
    ) throws {
        kept.insert(mapping.sourceTable.uppercased())
        let name = SQLName.quoted(mapping.sourceTable)
        let types = Dictionary(table.columns.map { ($0.name, $0.type) }, uniquingKeysWith: { first, _ in first })
        for (from, to) in change.renames {
            try connection.execute("ALTER TABLE \(name) RENAME COLUMN \(SQLName.quoted(from)) TO \(SQLName.quoted(to))")
        }
        for column in change.additions {
            try connection.execute("ALTER TABLE \(name) ADD COLUMN \(SQLName.quoted(column)) \(types[column] ?? "")")
        }
        // One pass sets all values that every row gets.
        let constants = change.updates.filter(\.condition.isEmpty)
        var statements = change.updates.filter { !$0.condition.isEmpty }
            .map { (set: "\($0.column) = \($0.value)", condition: $0.condition) }
        if !constants.isEmpty {
            let set = constants.map { "\($0.column) = \($0.value)" }.joined(separator: ", ")
            statements.append((set, ""))
        }
        for statement in statements {
            try connection.run(
                "UPDATE \(name) AS s SET \(statement.set)\(statement.condition)",
                mapping.arguments(in: statement.set)
            )
        }
        if !change.additions.isEmpty || !change.renames.isEmpty || !change.updates.isEmpty {
            extended.append(table.name)
        }
    }

    /// False if the table itself declares a uniqueness constraint that the target lacks, as older frameworks did.
    private func keepsConstraints(of table: String) -> Bool {
        let wanted = Set(uniqueColumns)
        return (plan.source.schema.table(named: table)?.indexes ?? [])
            .allSatisfy {
                $0.origin != .uniqueConstraint || wanted.contains($0.columns.map { ($0.name ?? "").uppercased() })
            }
    }

    /// The columns of each uniqueness constraint of the target.
    private var uniqueColumns: [[String]] {
        plan.mapping.target.entitiesByName.values.flatMap { entity in
            entity.uniquenessConstraints.map { constraint in
                constraint.map { name in
                    let stored = plan.layout.entities[entity.name]
                    if case .toOne(let key)? = stored?.relationship(name)?.storage { return key.column.uppercased() }
                    return stored?.attribute(name)?.column.uppercased() ?? ""
                }
            }
        }
    }

    private mutating func rewriteJoin(_ table: StoreShape.Table) throws {
        guard let wanted = plan.layout.joinTables.first(where: { $0.name == table.name }) else { return }
        let mapping = JoinMapping(plan, wanted)
        if mapping.isUnchanged {
            kept.insert(table.name.uppercased())
            return
        }
        let name = Self.interim(table.name)
        try connection.execute(table.named(name).sql)
        if let sql = mapping.insertion(into: name) {
            try connection.run(sql, [])
            copied.append(table.name)
        }
        renamed.append((name, table.name))
    }

    /// Drops every table of the source's model that does not stay.
    private mutating func dropFormerTables() throws {
        for entity in plan.source.layout.entities.values { dropped.insert(entity.table) }
        for table in plan.source.layout.joinTables { dropped.insert(table.name) }
        for table in dropped.sorted() where !kept.contains(table.uppercased()) {
            try connection.execute("DROP TABLE \(SQLName.quoted(table))")
        }
    }

    /// The name of a new table until the former one is dropped.
    private static func interim(_ name: String) -> String { interimPrefix + name }
    static let interimPrefix = "_store_migrate_new_"

    // MARK: Indexes

    private func writeIndexes(_ sourceShape: StoreShape) throws {
        // An index with the same name may have other columns.
        let statements = Set(plan.shape.indexes.map(\.sql))
        let former = Set(sourceShape.indexes.map(\.name))
        let changed = Set(sourceShape.indexes.filter { !statements.contains($0.sql) }.map(\.name))
        let wanted = Set(plan.shape.indexes.map(\.name))
        let schema = try StoreSchema(reading: connection)
        for index in schema.tables.flatMap(\.indexes)
        where index.origin == .statement && changed.contains(index.name) {
            try connection.execute("DROP INDEX \(SQLName.quoted(index.name))")
        }
        let present = Set(schema.tables.flatMap(\.indexes).map(\.name)).subtracting(changed)
        let constraints = Set(
            schema.tables.flatMap { table in
                table.indexes.filter { $0.origin == .uniqueConstraint }
                    .map { [table.name.uppercased()] + $0.columns.map { ($0.name ?? "").uppercased() } }
            }
        )
        for index in plan.shape.indexes where !present.contains(index.name) {
            // A table of an older framework declares the constraint itself.
            if constraints.contains(where: { index.isUnique(on: $0) }) { continue }
            try connection.execute(index.sql)
        }
        try restoreOtherIndexes(former, wanted)
    }

    /// Makes the indexes of copied tables again that are not of the model, if their columns still exist.
    private func restoreOtherIndexes(_ former: Set<String>, _ wanted: Set<String>) throws {
        let schema = try StoreSchema(reading: connection)
        let replaced = Set(renamed.map { $0.to.uppercased() })
        for table in plan.source.schema.tables {
            guard replaced.contains(table.name.uppercased()), let current = schema.table(named: table.name) else {
                continue
            }
            for index in table.indexes {
                guard let sql = index.sql, !former.contains(index.name), !wanted.contains(index.name), !index.isPartial,
                    index.columns.allSatisfy({ $0.name.flatMap(current.column) != nil })
                else { continue }
                try connection.execute(sql)
            }
        }
    }
}

extension StoreShape.Index {
    /// True for a unique index on the table and columns, in upper case.
    fileprivate func isUnique(on names: [String]) -> Bool {
        guard sql.hasPrefix("CREATE UNIQUE INDEX"), let start = sql.firstIndex(of: "(") else { return false }
        let columns = sql[sql.index(after: start)...].dropLast().split(separator: ",")
            .map { $0.split(separator: " ").first.map { $0.filter { $0 != "\"" }.uppercased() } ?? "" }
        let table = sql[..<start].split(separator: " ").last.map { $0.filter { $0 != "\"" }.uppercased() } ?? ""
        return [table] + columns == names
    }
}
