import StoreFormat

/// Applies changes that block each other, because each takes a unique value that another row still has.
///
/// The rows are deleted together, then inserted with their new values.
struct UniqueValueSwap {
    private let connection: StoreConnection

    init(_ connection: StoreConnection) { self.connection = connection }

    /// `later` returns the error for a row that was changed later or whose values another row took.
    func carryOut(_ changes: [RecordedChange], _ later: (RecordedChange) -> StoreError) throws {
        guard !changes.isEmpty else { return }
        let schema = try StoreSchema(reading: connection)
        var rows: [(change: RecordedChange, columns: [String], values: [SQLValue])] = []
        for change in changes {
            guard let table = schema.table(named: change.table), change.kind != .delete else { throw later(change) }
            // Tables with generated columns are not recorded.
            let names = table.columns.map(\.name)
            guard names.count == change.after.count else { throw later(change) }
            let name = SQLName.quoted(table.name)
            let condition = change.keyColumns.map { SQLName.quoted(names[$0]) + " = ?" }.joined(separator: " AND ")
            var values = change.after.map { $0 ?? .null }
            if change.kind == .update {
                var former: [SQLValue]?
                let list = names.map(SQLName.quoted).joined(separator: ", ")
                try connection.forEachRow("SELECT \(list) FROM \(name) WHERE \(condition)", change.key) { row in
                    former = names.indices.map { row.value($0) }
                }
                guard let former else { throw later(change) }
                for index in names.indices {
                    if change.keyColumns.contains(index) || change.after[index] == nil {
                        values[index] = former[index]
                    } else if former[index] != change.before[index] {
                        throw later(change)
                    }
                }
                try connection.run("DELETE FROM \(name) WHERE \(condition)", change.key)
            }
            rows.append((change, names, values))
        }
        for (change, names, values) in rows {
            let list = names.map(SQLName.quoted).joined(separator: ", ")
            let places = names.map { _ in "?" }.joined(separator: ", ")
            do {
                try connection.run("INSERT INTO \(SQLName.quoted(change.table)) (\(list)) VALUES (\(places))", values)
            } catch {
                throw error.code == .failed ? later(change) : error
            }
        }
    }
}
