import CSQLite
import StoreAccess

/// Tables, indexes, views and triggers that only the old store has, and that the merge copies unchanged.
struct CarriedDefinitions: Hashable, Sendable {
    /// In creation order: an index or a trigger comes after its table.
    private(set) var entries: [StoreDefinitions.Entry] = []

    mutating func add(_ entry: StoreDefinitions.Entry) {
        entries.append(entry)
        entries.sort { ($0.place, $0.name) < ($1.place, $1.name) }
    }

    func contains(table name: String) -> Bool {
        entries.contains { $0.type == "table" && $0.name.lowercased() == name.lowercased() }
    }

    /// True if the AUTOINCREMENT counter of a table is carried too.
    var holdsAutoincrement: Bool {
        entries.contains { $0.type == "table" && $0.sql?.lowercased().contains("autoincrement") == true }
    }

    /// Creates the definitions, each table with its rows, inside the merge's transaction.
    func write(from old: StoreConnection, to shared: StoreConnection) throws {
        let schema = try StoreSchema(reading: old)
        for entry in entries {
            guard let sql = entry.sql else { continue }
            try shared.execute(sql)
            if entry.type == "table", let table = schema.table(named: entry.name) { try copy(table, old, shared) }
        }
    }

    private func copy(_ table: StoreSchema.Table, _ old: StoreConnection, _ shared: StoreConnection) throws {
        let stored = table.columns.filter { !$0.isGenerated }.map(\.name)
        let names = (table.rowIDAlias == nil ? table.rowIDName.map { [$0] } ?? [] : []) + stored
        let list = names.map(SQLName.quoted).joined(separator: ", ")
        let places = names.map { _ in "?" }.joined(separator: ", ")
        let insertion = "INSERT INTO \(SQLName.quoted(table.name)) (\(list)) VALUES (\(places))"
        try old.forEachRow("SELECT \(list) FROM \(SQLName.quoted(table.name))") { row in
            try shared.run(insertion, (0..<row.columnCount).map { row.value($0) })
        }
        let number = "SELECT seq FROM sqlite_sequence WHERE name = ?"
        guard table.isAutoincrement, let last = try old.value(number, [.text(table.name)])?.integer else { return }
        try shared.run("DELETE FROM sqlite_sequence WHERE name = ?", [.text(table.name)])
        try shared.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [.text(table.name), .integer(last)])
    }
}

extension StoreDefinitions.Entry {
    fileprivate var place: Int { ["table", "index", "view", "trigger"].firstIndex(of: type) ?? 4 }
}
