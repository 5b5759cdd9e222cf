import ModelMigration
import StoreAccess
import StoreFormat

/// The values and references of a store by plain SQL: entity, property, then primary key.
struct StoreContent: Equatable {
    private(set) var values: [String: [String: [Int64: String]]] = [:]
    /// The members of each object's relationship, in their order if the relationship is ordered.
    private(set) var links: [String: [String: [Int64: [Int64]]]] = [:]

    init(_ connection: StoreConnection, _ layout: StoreLayout) throws {
        for entity in layout.entities.values {
            let isSole = layout.entities(inTable: entity.table).count == 1
            let own = isSole ? "1" : "Z_ENT = \(entity.number)"
            values[entity.name, default: [:]]["Z_OPT"] = try Self.column("Z_OPT", of: entity, own, connection)
            for attribute in entity.attributes {
                values[entity.name, default: [:]][attribute.description.name] =
                    try Self.column(SQLName.quoted(attribute.column), of: entity, own, connection)
            }
            for relationship in entity.relationships {
                var members: [Int64: [Int64]] = [:]
                try connection.forEachRow(Self.pairs(relationship, entity, own)) { row in
                    members[row.integer(0), default: []].append(row.integer(1))
                }
                if !relationship.description.isOrdered { members = members.mapValues { $0.sorted() } }
                links[entity.name, default: [:]][relationship.description.name] = members
            }
        }
    }

    private static func column(
        _ column: String,
        of entity: StoreLayout.Entity,
        _ own: String,
        _ connection: StoreConnection
    ) throws -> [Int64: String] {
        var result: [Int64: String] = [:]
        let sql = "SELECT Z_PK, typeof(\(column)) || quote(\(column)) FROM \(SQLName.quoted(entity.table)) WHERE \(own)"
        try connection.forEachRow(sql) { row in result[row.integer(0)] = row.text(1) }
        return result
    }

    private static func pairs(_ relationship: StoreLayout.Relationship, _ entity: StoreLayout.Entity, _ own: String)
        -> String
    {
        let owners = "SELECT Z_PK FROM \(SQLName.quoted(entity.table)) WHERE \(own)"
        switch relationship.storage {
        case .toOne(let key):
            let column = SQLName.quoted(key.column)
            return "SELECT Z_PK, \(column) FROM \(SQLName.quoted(entity.table)) WHERE \(column) NOT NULL AND \(own)"
        case .oneToMany(let table, let key):
            let (column, place) = (SQLName.quoted(key.column), key.orderColumn.map(SQLName.quoted) ?? "Z_PK")
            return
                "SELECT \(column), Z_PK FROM \(SQLName.quoted(table)) WHERE \(column) IN (\(owners)) ORDER BY \(column), \(place), Z_PK"
        case .manyToMany(let table, let owner, let other):
            return "SELECT DISTINCT owner, member FROM ("
                + StoreLayout.JoinTable.pairs(table, owner, other) { "\($0) IN (\(owners))" }
                + ") ORDER BY owner, place, member"
        }
    }
}

/// The form of a store's tables: what two stores of one version have in common.
struct StoreForm: Equatable {
    /// Each column with its table and type.
    var columns: Set<[String]> = []
    /// The table and columns of each uniqueness constraint, in the order of the columns.
    var constraints: Set<[String]> = []
    var numbers: Set<[String]> = []
    var hashes: [String: [UInt8]] = [:]

    init(_ connection: StoreConnection) throws {
        let schema = try StoreSchema(reading: connection)
        for table in schema.tables where table.holdsRows && table.name.hasPrefix("Z") {
            for column in table.columns { columns.insert([table.name, column.name, column.declaredType]) }
            for index in table.indexes where index.isUnique {
                constraints.insert([table.name] + index.columns.map { $0.name ?? "" })
            }
        }
        for entry in try EntityNumbers(reading: connection)?.modelEntries ?? [] {
            numbers.insert([String(entry.number), entry.name, String(entry.parent)])
        }
        hashes = try StoreMetadata(reading: connection)?.entityVersionHashes ?? [:]
    }
}
