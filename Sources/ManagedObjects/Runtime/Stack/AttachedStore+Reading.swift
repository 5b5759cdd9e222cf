internal import StoreAccess
internal import StoreFormat
internal import Synchronization

extension AttachedStore {
    private static let keysPerStatement = 500
    private static let places = [String](repeating: "?", count: keysPerStatement).joined(separator: ",")

    /// Calls `body` with each row of a query's result, in order.
    func forEachRow(_ query: RowQuery, _ body: (RowSnapshot) throws -> Void) throws {
        let entity = try entity(query.entity)
        let time = ContinuousClock.now
        try withPlan(of: entity, includingSubentities: query.includesSubentities) { plan, connection in
            var sql = "SELECT \(plan.selection(alias: "t")) FROM \(SQLName.quoted(plan.table)) t"
            sql += " WHERE \(plan.condition(alias: "t"))"
            if let condition = query.condition { sql += " AND (\(condition))" }
            sql += " ORDER BY " + (query.order.map { $0 + ", " } ?? "") + "t.Z_PK"
            sql += Self.window(query)
            var count = 0
            try connection.forEachRow(sql, query.arguments) { row in
                try suspension.requireResumed(location)
                guard let snapshot = try plan.snapshot(row, time: time) else { return }
                count += 1
                try body(snapshot)
            }
            return count
        }
    }

    /// Reads rows by their keys; missing rows are left out.
    ///
    /// The writer reads through its own connection, which includes its uncommitted changes.
    func rows(of ids: [ManagedObjectID], through connection: StoreConnection? = nil) throws -> [RowSnapshot] {
        guard let first = ids.first else { return [] }
        var result: [RowSnapshot] = []
        result.reserveCapacity(ids.count)
        let groups =
            ids.allSatisfy { $0.rootName == first.rootName }
            ? [first.rootName: ids] : Dictionary(grouping: ids, by: \.rootName)
        for (root, group) in groups.sorted(by: { $0.key < $1.key }) {
            guard let entity = contents.layout.entities[root] else { continue }
            // Sorted, because rows with close keys share pages.
            let keys = group.compactMap(\.primaryKey).sorted()
            for start in stride(from: 0, to: keys.count, by: Self.keysPerStatement) {
                let part = keys[start..<min(start + Self.keysPerStatement, keys.count)]
                try rows(of: entity, keys: part, through: connection) { result.append($0) }
            }
        }
        return result
    }

    private func rows(
        of entity: StoreLayout.Entity,
        keys: ArraySlice<Int64>,
        through writing: StoreConnection?,
        _ body: (RowSnapshot) -> Void
    ) throws {
        if let writing {
            // The writer must not wait for the reading connection: a reader may be waiting for the write lock.
            _ = try rows(keys, writingPlan(of: entity), writing, body)
        } else {
            try withPlan(of: entity, includingSubentities: true) { try rows(keys, $0, $1, body) }
        }
    }

    private func rows(
        _ keys: ArraySlice<Int64>,
        _ plan: RowPlan,
        _ connection: StoreConnection,
        _ body: (RowSnapshot) -> Void
    ) throws -> Int {
        let time = ContinuousClock.now
        // Single keys and full batches are the common cases: their statements are cached.
        let isKept = keys.count == 1 || keys.count == Self.keysPerStatement
        let list = keys.count == 1 ? "?" : isKept ? Self.places : keys.map(String.init).joined(separator: ",")
        let arguments: [SQLValue] = isKept ? keys.map(SQLValue.integer) : []
        let sql = "SELECT \(plan.selection(alias: "t")) FROM \(SQLName.quoted(plan.table)) t WHERE t.Z_PK IN (\(list))"
        var count = 0
        try connection.forEachRow(sql, arguments, keepingStatement: isKept) { row in
            guard let snapshot = try plan.snapshot(row, time: time) else { return }
            count += 1
            body(snapshot)
        }
        return count
    }

    func row(of id: ManagedObjectID, through connection: StoreConnection) throws -> RowSnapshot? {
        try rows(of: [id], through: connection).first
    }

    /// The destinations of a to-many relationship of several objects, in the stored order.
    func destinations(of owners: [ManagedObjectID], _ relationship: String) throws -> [ManagedObjectID:
        [ManagedObjectID]]
    {
        var result: [ManagedObjectID: [ManagedObjectID]] = [:]
        for (name, group) in Dictionary(grouping: owners, by: \.entityName) {
            guard let storage = try entity(name).relationship(relationship) else {
                throw ManagedObjectError(
                    .unknownProperty,
                    "the store does not contain the relationship \(name).\(relationship)"
                )
            }
            let byKey = Dictionary(group.compactMap { id in id.primaryKey.map { ($0, id) } }) { first, _ in first }
            let keys = byKey.keys.sorted()
            for start in stride(from: 0, to: keys.count, by: Self.keysPerStatement) {
                let part = keys[start..<min(start + Self.keysPerStatement, keys.count)]
                for (owner, destination) in try destinations(of: part, storage) {
                    if let owner = byKey[owner] { result[owner, default: []].append(destination) }
                }
            }
        }
        return result
    }

    private func destinations(
        of keys: ArraySlice<Int64>,
        _ relationship: StoreLayout.Relationship
    ) throws -> [(Int64, ManagedObjectID)] {
        let destination = try entity(relationship.description.destination)
        let list = keys.map(String.init).joined(separator: ",")
        let sql: String
        switch relationship.storage {
        case .toOne: return []
        case .oneToMany(let table, let key):
            let order = key.orderColumn.map { "t.\(SQLName.quoted($0)), " } ?? ""
            sql = """
                SELECT t.\(SQLName.quoted(key.column)), t.Z_PK, t.Z_ENT FROM \(SQLName.quoted(table)) t
                WHERE t.\(SQLName.quoted(key.column)) IN (\(list)) ORDER BY t.\(SQLName.quoted(key.column)), \(order)t.Z_PK
                """
        case .manyToMany(let table, let owner, let other):
            sql = Self.joinSQL(table, owner, other, destination: destination.table, keys: list)
        }
        var result: [(Int64, ManagedObjectID)] = []
        let sole = contents.layout.soleEntity(inTable: destination.table)
            .flatMap { contents.families.family(named: $0.name) }
        try read { _, connection in
            try connection.forEachRow(sql) { row in
                guard let family = sole ?? contents.families.family(numbered: row.integer(2)),
                    family.rootName == destination.root
                else { return }
                let id = ManagedObjectID(family, primaryKey: row.integer(1))
                result.append((row.integer(0), id))
            }
        }
        return result
    }

    private static func joinSQL(
        _ table: String,
        _ owner: StoreLayout.JoinTable.Side,
        _ other: StoreLayout.JoinTable.Side,
        destination: String,
        keys: String
    ) -> String {
        let pairs = StoreLayout.JoinTable.pairs(table, owner, other) { "\($0) IN (\(keys))" }
        let joined =
            "SELECT x.owner, t.Z_PK, t.Z_ENT FROM (\(pairs)) x JOIN \(SQLName.quoted(destination)) t ON t.Z_PK = x.member"
        // For a pair stored in both directions, the lower position counts.
        return StoreLayout.JoinTable.isReflexive(owner, other)
            ? joined + " GROUP BY x.owner, t.Z_PK ORDER BY x.owner, min(x.place), t.Z_PK"
            : joined + " ORDER BY x.owner, x.place, t.Z_PK"
    }

    // MARK: Parts

    /// Calls `body` with the plan for an entity's rows; `body` returns the number of rows that it read.
    private func withPlan(
        of entity: StoreLayout.Entity,
        includingSubentities: Bool,
        _ body: (RowPlan, StoreConnection) throws -> Int
    ) throws {
        try read { state, connection in
            let name = entity.name + (includingSubentities ? "" : "!")
            let plan = try state.plans[name] ?? makePlan(of: entity, includingSubentities: includingSubentities)
            state.plans[name] = plan
            state.rowsRead += try body(plan, connection)
        }
    }

    private func makePlan(of entity: StoreLayout.Entity, includingSubentities: Bool) throws -> RowPlan {
        try RowPlan(
            entity,
            includingSubentities: includingSubentities,
            layout: contents.layout,
            model: contents.model,
            families: contents.families
        )
    }

    private func writingPlan(of entity: StoreLayout.Entity) throws -> RowPlan {
        try writingPlans.withLock { plans in
            let plan = try plans[entity.name] ?? makePlan(of: entity, includingSubentities: true)
            plans[entity.name] = plan
            return plan
        }
    }

    private static func window(_ query: RowQuery) -> String {
        guard query.limit != nil || query.offset > 0 else { return "" }
        return " LIMIT \(query.limit ?? -1) OFFSET \(max(0, query.offset))"
    }
}
