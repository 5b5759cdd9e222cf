import StoreFormat

/// Carries out changes that hold each other up, since each takes a unique value that another still has.
///
/// The rows are taken away together, and then put back as they are to be.
struct UniqueValueSwap {
    private let connection: StoreConnection

    init(_ connection: StoreConnection) { self.connection = connection }

    /// `later` tells what is thrown where somebody else has the values.
    func carryOut(_ changes: [RecordedChange], _ later: (RecordedChange) -> StoreError) throws {
        guard !changes.isEmpty else { return }
        let schema = try StoreSchema(reading: connection)
        var rows: [(change: RecordedChange, columns: [String], values: [SQLValue])] = []
        for change in changes {
            guard let table = schema.table(named: change.table), change.kind != .delete else { throw later(change) }
            let stored = table.columns.enumerated().filter { !$0.element.isGenerated }
            // A record counts all columns but virtual ones.
            let places = table.columns.indices.filter { table.columns[$0].generation != .virtual }
            guard places.count == change.after.count else { throw later(change) }
            let names = stored.map(\.element.name)
            let name = SQLName.quoted(table.name)
            let keys = change.keyColumns.map { SQLName.quoted(table.columns[places[$0]].name) + " = ?" }
            let condition = keys.joined(separator: " AND ")
            var values = stored.map { place, _ in places.firstIndex(of: place).flatMap { change.after[$0] } ?? .null }
            if change.kind == .update {
                var former: [SQLValue]?
                let list = names.map(SQLName.quoted).joined(separator: ", ")
                try connection.forEachRow("SELECT \(list) FROM \(name) WHERE \(condition)", change.key) { row in
                    former = names.indices.map { row.value($0) }
                }
                guard let former else { throw later(change) }
                for (index, (place, _)) in stored.enumerated() {
                    guard let column = places.firstIndex(of: place), !change.keyColumns.contains(column),
                        change.after[column] != nil
                    else {
                        values[index] = former[index]
                        continue
                    }
                    guard former[index] == change.before[column] else { throw later(change) }
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
