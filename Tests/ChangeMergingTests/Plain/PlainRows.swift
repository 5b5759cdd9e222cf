import StoreAccess

/// All rows of a database in memory, and the simplest merge of three such states: the model that tests compare with.
struct PlainRows: Equatable {
    typealias Row = [String: SQLValue]

    /// The definitions of the tables.
    struct Shape {
        let key: [String]
        let isMovable: Bool
        /// Columns that refer to another table's key.
        let leads: [String: String]
    }

    static let shapes: [(name: String, shape: Shape)] = [
        ("kind", Shape(key: ["name"], isMovable: false, leads: [:])),
        ("person", Shape(key: ["id"], isMovable: true, leads: ["kind": "kind"])),
        ("pet", Shape(key: ["id"], isMovable: true, leads: ["owner": "person"])),
        ("friend", Shape(key: ["a", "b"], isMovable: false, leads: ["a": "person", "b": "person"])),
        ("log", Shape(key: [], isMovable: false, leads: ["who": "person"])),
    ]

    var tables: [String: [[SQLValue]: Row]] = [:]
    /// The rows of the table without a key, with their counts.
    var bag: [Row: Int] = [:]

    init() {}

    init(reading connection: StoreConnection) throws {
        for (name, shape) in Self.shapes {
            let columns =
                try StoreSchema(reading: connection).table(named: name)?.columns.filter { !$0.isGenerated } ?? []
            try connection.forEachRow("SELECT * FROM \(SQLName.quoted(name))") { row in
                var values: Row = [:]
                for (index, column) in columns.enumerated() { values[column.name] = row.value(index) }
                if shape.key.isEmpty {
                    bag[values, default: 0] += 1
                } else {
                    tables[name, default: [:]][Self.key(values, shape)] = values
                }
            }
        }
    }

    static func key(_ row: Row, _ shape: Shape) -> [SQLValue] { shape.key.map { row[$0] ?? .null } }

    /// The new keys of old rows, by table.
    typealias Moves = [String: [[SQLValue]: [SQLValue]]]

    static func merged(
        _ base: PlainRows,
        _ old: PlainRows,
        _ shared: PlainRows,
        prefersOld: Bool
    ) -> (rows: PlainRows, moves: Moves) {
        var moves: Moves = [:]
        /// An old row with the keys of the shared store.
        func mapped(_ row: Row, _ shape: Shape) -> Row {
            var row = row
            for (column, table) in shape.leads {
                if let value = row[column], let target = moves[table]?[[value]] { row[column] = target[0] }
            }
            return row
        }
        for (name, shape) in shapes where shape.isMovable {
            let all = [old, shared].flatMap { $0.tables[name, default: [:]].keys }.compactMap { $0[0].integer }
            var next = (all.max() ?? 0) + 1
            let added = old.tables[name, default: [:]].filter { base.tables[name]?[$0.key] == nil }
            for (key, row) in added.sorted(by: { ($0.key[0].integer ?? 0) < ($1.key[0].integer ?? 0) }) {
                guard let there = shared.tables[name]?[key], there != mapped(row, shape) else { continue }
                moves[name, default: [:]][key] = [.integer(next)]
                next += 1
            }
        }
        var result = shared
        for (name, shape) in shapes where !shape.key.isEmpty {
            let (was, now) = (base.tables[name, default: [:]], old.tables[name, default: [:]])
            for key in Set(was.keys).union(now.keys) {
                guard var row = now[key].map({ mapped($0, shape) }) else {
                    if let there = shared.tables[name]?[key], there == was[key] { result.tables[name]?[key] = nil }
                    continue
                }
                let target = moves[name]?[key] ?? Self.key(row, shape)
                for (column, value) in zip(shape.key, target) { row[column] = value }
                let former = was[key]
                if let former, now[key] == former { continue }
                guard let there = shared.tables[name]?[target] else {
                    result.tables[name, default: [:]][target] = row
                    continue
                }
                var merged = there
                for (column, value) in row where value != (former?[column] ?? .null) {
                    let isUntouched = there[column] == (former?[column] ?? .null)
                    if isUntouched || prefersOld { merged[column] = value }
                }
                result.tables[name]?[target] = merged
            }
        }
        let shape = shapes[4].shape
        for row in Set(base.bag.keys).union(old.bag.keys) {
            let (before, here) = (base.bag[row] ?? 0, old.bag[row] ?? 0)
            let there = shared.bag[row] ?? 0
            let target = mapped(row, shape)
            if target != row {
                result.bag[target, default: 0] += here
            } else if here > before {
                result.bag[row] = there + max(0, here - before - max(0, there - before))
            } else if here < before {
                result.bag[row] = there - max(0, before - here - max(0, before - there))
            }
        }
        result.bag = result.bag.filter { $0.value > 0 }
        result.bringBack(from: old, shared, moves)
        return (result, moves)
    }

    /// Restores the parents of a row from the side that still has them.
    private mutating func bringBack(from old: PlainRows, _ shared: PlainRows, _ moves: Moves) {
        var isSettled = false
        while !isSettled {
            isSettled = true
            for (name, shape) in Self.shapes {
                let rows = shape.key.isEmpty ? Array(bag.keys) : Array(tables[name, default: [:]].values)
                for row in rows {
                    for (column, table) in shape.leads {
                        guard let value = row[column], value != .null, tables[table]?[[value]] == nil else { continue }
                        tables[table, default: [:]][[value]] =
                            shared.tables[table]?[[value]] ?? old.tables[table]?[[value]]
                        isSettled = false
                    }
                }
            }
        }
    }
}
