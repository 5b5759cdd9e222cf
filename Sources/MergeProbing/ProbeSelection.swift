import StoreAccess
import StoreFormat

/// Some objects of a store with their destinations: enough to test how changes travel, for a store of any size.
struct ProbeSelection {
    /// The limits of the selection.
    struct Limits {
        var objects = 1_000
        /// Objects of each concrete entity, not counting destinations.
        var objectsPerEntity = 3
        /// Members of each to-many relationship.
        var members = 3
        /// Rows of a table that are scanned for objects of an entity, and for members without an index.
        var scannedRows: Int64 = 20_000
    }

    /// The keys of the selected rows, by table.
    private(set) var keys: [String: Set<Int64>] = [:]
    /// The keys of the objects that were selected themselves, by entity, without their destinations.
    private(set) var samples: [String: [Int64]] = [:]
    private(set) var count = 0

    private let limits: Limits
    private let layout: StoreLayout
    private let schema: StoreSchema
    private let connection: StoreConnection
    private let smallTables: Set<String>
    /// Selected rows whose relationships were not followed yet.
    private var pending: [(entity: StoreLayout.Entity, key: Int64)] = []
    private var next = 0

    init(
        reading connection: StoreConnection,
        layout: StoreLayout,
        schema: StoreSchema,
        limits: Limits = Limits()
    ) throws {
        self.limits = limits
        self.layout = layout
        self.schema = schema
        self.connection = connection
        var small: Set<String> = []
        for table in Set(layout.entities.values.map(\.table)) + layout.joinTables.map(\.name) {
            let last = try connection.value("SELECT max(rowid) FROM \(SQLName.quoted(table))")?.integer ?? 0
            if last <= limits.scannedRows { small.insert(table) }
        }
        smallTables = small
        for entity in layout.entities.values.sorted(by: { $0.number < $1.number }) where !entity.isAbstract {
            try takeSamples(of: entity)
        }
        try close()
    }

    func contains(_ key: Int64, in table: String) -> Bool { keys[table]?.contains(key) == true }

    // MARK: Taking

    private mutating func takeSamples(of entity: StoreLayout.Entity) throws {
        let table = SQLName.quoted(entity.table)
        var found: [Int64] = []
        try connection.forEachRow(
            """
            SELECT Z_PK FROM (SELECT Z_PK, Z_ENT FROM \(table) ORDER BY Z_PK LIMIT ?) WHERE Z_ENT = ? LIMIT ?
            """,
            [.integer(limits.scannedRows), .integer(entity.number), .integer(Int64(limits.objectsPerEntity))]
        ) { found.append($0.integer(0)) }
        samples[entity.name] = found
        for key in found { take(key, entity) }
    }

    private mutating func take(_ key: Int64, _ entity: StoreLayout.Entity) {
        guard count < limits.objects, keys[entity.table, default: []].insert(key).inserted else { return }
        count += 1
        pending.append((entity, key))
    }

    /// Follows relationships until the selection is closed or full; to-one relationships first, which an object may require
    /// to be valid.
    private mutating func close() throws {
        var followed = 0
        while followed < pending.count {
            while next < pending.count {
                let (entity, key) = pending[next]
                next += 1
                try takeDestinations(of: key, entity)
            }
            let (entity, key) = pending[followed]
            followed += 1
            try takeMembers(of: key, entity)
        }
    }

    private mutating func takeDestinations(of key: Int64, _ entity: StoreLayout.Entity) throws {
        let links = entity.relationships.compactMap { relationship -> (column: String, destination: String)? in
            guard case .toOne(let foreignKey) = relationship.storage else { return nil }
            return (foreignKey.column, relationship.description.destination)
        }
        guard !links.isEmpty else { return }
        let columns = links.map { SQLName.quoted($0.column) }.joined(separator: ", ")
        var found: [(Int64, String)] = []
        try connection.forEachRow(
            "SELECT \(columns) FROM \(SQLName.quoted(entity.table)) WHERE Z_PK = ?",
            [.integer(key)],
            keepingStatement: true
        ) { row in
            for (index, link) in links.enumerated() where row.type(index) == .integer {
                found.append((row.integer(index), link.destination))
            }
        }
        for (key, destination) in found { try take(key, inTableOf: destination) }
    }

    private mutating func takeMembers(of key: Int64, _ entity: StoreLayout.Entity) throws {
        for relationship in entity.relationships {
            let (table, column, member): (String, String, String)
            switch relationship.storage {
            case .toOne: continue
            case .oneToMany(let name, let foreignKey): (table, column, member) = (name, foreignKey.column, "Z_PK")
            case .manyToMany(let name, let owner, let other):
                (table, column, member) = (name, owner.column, other.column)
            }
            guard isQuick(table, column) else { continue }
            var found: [Int64] = []
            try connection.forEachRow(
                """
                SELECT \(SQLName.quoted(member)) FROM \(SQLName.quoted(table))
                WHERE \(SQLName.quoted(column)) = ? ORDER BY 1 LIMIT ?
                """,
                [.integer(key), .integer(Int64(limits.members))],
                keepingStatement: true
            ) { found.append($0.integer(0)) }
            for key in found { try take(key, inTableOf: relationship.description.destination) }
        }
    }

    /// Selects a row, unless the model lacks its entity: its relationships are then unknown.
    private mutating func take(_ key: Int64, inTableOf destination: String) throws {
        guard count < limits.objects, let table = layout.entities[destination]?.table, !contains(key, in: table),
            let number = try connection.value(
                "SELECT Z_ENT FROM \(SQLName.quoted(table)) WHERE Z_PK = ?",
                [.integer(key)]
            )?
            .integer,
            let entity = layout.entity(numbered: number), entity.table == table
        else { return }
        take(key, entity)
    }

    /// True when finding rows by this column does not scan a large table.
    private func isQuick(_ table: String, _ column: String) -> Bool {
        if smallTables.contains(table) { return true }
        guard let found = schema.table(named: table) else { return false }
        let column = column.lowercased()
        return found.primaryKey.first?.name.lowercased() == column
            || found.indexes.contains { !$0.isPartial && $0.columns.first?.name?.lowercased() == column }
    }
}
