import CSQLite
import SafeFiles
import StoreFormat

extension MergeUndo {
    /// Triggers do not fire: what they did in the merge is in the record, or they did not fire there either.
    func undoPlain(_ connection: StoreConnection, _ deadline: Deadline) throws -> Result {
        defer { _ = connection.withHandle { csqlite_configure($0, SQLITE_DBCONFIG_ENABLE_TRIGGER, 1) } }
        return try connection.inTransaction(until: deadline) {
            _ = connection.withHandle { csqlite_configure($0, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0) }
            let layout = try PlainLayout(reading: connection)
            let before = try PlainMerge.danglingRows(in: connection)
            try apply(to: connection) { change in
                "a row of the table \(change.table) (\(Self.text(change.key)))"
            }
            var (inserted, updated, deleted) = (0, 0, 0)
            var touched: Set<String> = []
            try reader.forEachChange { change in
                touched.insert(change.table.lowercased())
                switch change.kind {
                case .insert: inserted += 1
                case .update: updated += 1
                case .delete: deleted += 1
                }
            }
            try reader.forEachRowBackwards { row in
                touched.insert(row.table.lowercased())
                switch (row.before, row.after) {
                case (nil, _): deleted += 1
                case (_, nil): inserted += 1
                default: updated += 1
                }
                try restore(row, connection)
            }
            for (name, kind) in layout.virtualTables.sorted(by: { $0.key < $1.key }) {
                guard case .rebuilt(let content) = kind,
                    touched.contains(content?.lowercased() ?? "") || layout.position(of: content ?? "") == nil
                else { continue }
                let table = SQLName.quoted(name)
                try connection.run("INSERT INTO \(table) (\(table)) VALUES ('rebuild')", [])
            }
            for (table, count) in try PlainMerge.danglingRows(in: connection) where count > before[table] ?? 0 {
                throw StoreError(
                    .changedMeanwhile,
                    path: connection.location.path,
                    "the merge cannot be taken back: rows of the table \(table) were led to it later"
                )
            }
            try MergeEpochTable.drop(from: connection)
            return Result(inserted: inserted, updated: updated, deleted: deleted, historyTransaction: nil)
        }
    }

    /// Puts back one row that has no key, or that is a virtual table's.
    private func restore(_ row: UnkeyedRow, _ connection: StoreConnection) throws {
        let table = SQLName.quoted(row.table)
        if let after = row.after?.map(\.sqlValue) {
            let column = row.key == nil ? "rowid" : row.columns.first ?? "rowid"
            let found = try number(ofRow: after, row, table, column, connection)
            guard let found else {
                throw StoreError(
                    .changedMeanwhile,
                    path: connection.location.path,
                    "the merge cannot be taken back: a row of the table \(row.table) was written after it"
                )
            }
            try connection.run("DELETE FROM \(table) WHERE \(SQLName.quoted(column)) = ?", [.integer(found)])
        }
        guard let before = row.before?.map(\.sqlValue) else { return }
        let list = row.columns.map(SQLName.quoted).joined(separator: ", ")
        let places = row.columns.map { _ in "?" }.joined(separator: ", ")
        try connection.run("INSERT INTO \(table) (\(list)) VALUES (\(places))", before)
    }

    /// The number of a row that is as the merge left it; nil when there is none.
    private func number(
        ofRow values: [SQLValue],
        _ row: UnkeyedRow,
        _ table: String,
        _ column: String,
        _ connection: StoreConnection
    ) throws -> Int64? {
        let list = row.columns.map(SQLName.quoted).joined(separator: ", ")
        var found: Int64?
        if let key = row.key {
            try connection.forEachRow(
                "SELECT \(list) FROM \(table) WHERE \(SQLName.quoted(column)) = ?",
                [.integer(key)]
            ) {
                row in
                if values.indices.allSatisfy({ row.value($0) == values[$0] }) { found = key }
            }
            return found
        }
        let conditions = row.columns.enumerated().map { "\(SQLName.quoted($0.element)) IS ?\($0.offset + 1)" }
        try connection.forEachRow(
            "SELECT \(SQLName.quoted(column)), \(list) FROM \(table) WHERE \(conditions.joined(separator: " AND "))",
            values
        ) { row in
            if found == nil, values.indices.allSatisfy({ row.value($0 + 1) == values[$0] }) { found = row.integer(0) }
        }
        return found
    }
}
