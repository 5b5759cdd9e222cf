import StoreFormat

/// What the tables of a store say of one object, read without any of the runtime's code.
struct TableReading {
    /// The rows of all model tables by table and key, each by its columns.
    private var rows: [String: [Int64: [String: SQLValue]]] = [:]
    /// The rows of all join tables.
    private var joins: [String: [[String: SQLValue]]] = [:]
    let layout: StoreLayout

    init(_ connection: StoreConnection) throws {
        let schema = try StoreSchema(reading: connection)
        let numbers = try EntityNumbers(reading: connection) ?? EntityNumbers([])
        let cache =
            schema.table(named: "Z_MODELCACHE") == nil ? nil : try connection.value("SELECT * FROM Z_MODELCACHE")
        let model =
            try cache?.blob.map { try ManagedObjectModel(modelCache: $0) }
            ?? .inferred(from: schema, entityNumbers: numbers)
        layout = StoreLayout(model: model, schema: schema, entityNumbers: numbers)
        for name in Set(layout.entities.values.map(\.table)) {
            for row in try Self.rows(of: name, connection, schema) {
                if let key = row["Z_PK"]?.integer { rows[name, default: [:]][key] = row }
            }
        }
        for table in layout.joinTables { joins[table.name] = try Self.rows(of: table.name, connection, schema) }
    }

    private static func rows(
        of table: String,
        _ connection: StoreConnection,
        _ schema: StoreSchema
    ) throws -> [[String: SQLValue]] {
        let columns = schema.table(named: table)?.columns.map(\.name) ?? []
        let list = columns.map(SQLName.quoted).joined(separator: ", ")
        var result: [[String: SQLValue]] = []
        try connection.forEachRow("SELECT \(list) FROM \(SQLName.quoted(table))") { row in
            var values: [String: SQLValue] = [:]
            for (index, column) in columns.enumerated() { values[column] = row.value(index) }
            result.append(values)
        }
        return result
    }

    /// The keys of the objects of exactly this entity; where a table has one entity only, all its rows are of that.
    func keys(of entity: StoreLayout.Entity) -> Set<Int64> {
        let isAlone = layout.entities.values.count { $0.table == entity.table } == 1
        return Set((rows[entity.table] ?? [:]).filter { isAlone || $0.value["Z_ENT"] == .integer(entity.number) }.keys)
    }

    func value(_ column: String, of key: Int64, in table: String) -> SQLValue {
        rows[table]?[key]?[column] ?? .null
    }

    /// The keys that a relationship of an object leads to.
    func destinations(of key: Int64, _ entity: StoreLayout.Entity, _ relationship: StoreLayout.Relationship) -> Set<
        Int64
    > {
        switch relationship.storage {
        case .toOne(let columns):
            return Set([value(columns.column, of: key, in: entity.table).integer].compactMap { $0 })
        case .oneToMany(let table, let columns):
            // Some genuine tables hold rows under the number of an entity that is kept elsewhere.
            let numbers = Set(layout.entities(inTable: table).map { SQLValue.integer($0.number) })
            let leading = (rows[table] ?? [:])
                .filter { _, row in
                    row[columns.column] == .integer(key) && numbers.contains(row["Z_ENT"] ?? .null)
                }
            return Set(leading.keys)
        case .manyToMany(let table, let owner, let other):
            var result: Set<Int64> = []
            for row in joins[table] ?? [] {
                guard let first = row[owner.column]?.integer, let second = row[other.column]?.integer else { continue }
                if first == key { result.insert(second) }
                let isReflexive = owner.entity == other.entity && owner.relationship == other.relationship
                if isReflexive, second == key { result.insert(first) }
            }
            let table = layout.entities[relationship.description.destination]?.table ?? ""
            return result.filter { rows[table]?[$0] != nil }
        }
    }

    /// The places of the destinations of an ordered one-to-many.
    func isAscending(_ keys: [Int64], _ relationship: StoreLayout.Relationship) -> Bool {
        guard case .oneToMany(let table, let columns) = relationship.storage, let order = columns.orderColumn else {
            return true
        }
        let places = keys.map { value(order, of: $0, in: table).integer ?? .min }
        return places == places.sorted()
    }
}
