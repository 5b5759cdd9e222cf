import CSQLite
import SafeFiles
import StoreAccess

extension MergeUndo {
    /// Triggers do not fire: the record contains their effects in the merge, if they fired there.
    func undoPlain(
        _ connection: StoreConnection,
        _ deadline: Deadline,
        _ epoch: String?,
        _ confirm: () throws -> Void
    ) throws -> Result {
        defer { _ = connection.withHandle { csqlite_configure($0, SQLITE_DBCONFIG_ENABLE_TRIGGER, 1) } }
        return try connection.inTransaction(until: deadline) {
            try StoreFence.requireNone(in: connection)
            _ = connection.withHandle { csqlite_configure($0, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0) }
            let layout = try PlainLayout(reading: connection)
            let schema = try StoreSchema(reading: connection)
            let before = try PlainMerge.danglingRows(in: connection)
            var (inserted, updated, deleted) = (0, 0, 0)
            var touched: Set<String> = []
            try removeNotedRows(from: connection, schema) { row in
                touched.insert(row.table.lowercased())
                switch (row.before, row.after) {
                case (nil, _): deleted += 1
                case (_, nil): inserted += 1
                default: updated += 1
                }
            }
            try apply(to: connection) { change in
                "a row of the table \(change.table) (\(Self.text(change.key)))"
            }
            try reader.forEachChange { change in
                touched.insert(change.table.lowercased())
                switch change.kind {
                case .insert: inserted += 1
                case .update: updated += 1
                case .delete: deleted += 1
                }
            }
            try insertNotedRows(into: connection)
            try restoreHeader(of: connection)
            try dropCreated(in: connection)
            try layout.rebuildIndexes(over: touched, in: connection)
            for (table, count) in try PlainMerge.danglingRows(in: connection) where count > before[table] ?? 0 {
                throw StoreError(
                    .changedMeanwhile,
                    path: connection.location.path,
                    "cannot roll back the merge: later rows of the table \(table) refer to its rows"
                )
            }
            try MergeEpochTable.remove(epoch, from: connection)
            if let epoch { try MergeEpochTable.writeUndone(epoch, to: connection) }
            try confirm()
            return Result(inserted: inserted, updated: updated, deleted: deleted, historyTransaction: nil)
        }
    }

    /// Removes what the merge wrote outside SQLite's session extension, and calls `body` before each row.
    ///
    /// Call it before ``apply(to:_:)``, which expects nulls in place of large values. Inserted rows are removed before
    /// deleted ones are restored, because they may have the same unique values.
    func removeNotedRows(
        from connection: StoreConnection,
        _ schema: StoreSchema,
        _ body: (UnkeyedRow) throws -> Void
    ) throws {
        try reader.forEachRowBackwards { row in
            try body(row)
            try remove(row, schema, connection)
        }
    }

    /// Restores the rows, and the large values of rows, that the merge deleted.
    func insertNotedRows(into connection: StoreConnection) throws {
        try reader.forEachRowBackwards { row in
            guard let before = row.before?.map({ $0.sqlValue(from: reader) }) else { return }
            if !row.isInPlace {
                try insert(row, before, into: connection)
            } else if row.after == nil {
                try set(row, before, in: connection)
            }
        }
    }

    /// Inserts a row that the merge deleted, unless a later row has its key.
    private func insert(_ row: UnkeyedRow, _ values: [SQLValue], into connection: StoreConnection) throws {
        let list = row.columns.map(SQLName.quoted).joined(separator: ", ")
        let places = row.columns.map { _ in "?" }.joined(separator: ", ")
        let insertion = "INSERT INTO \(SQLName.quoted(row.table)) (\(list)) VALUES (\(places))"
        do {
            try connection.lending([reader]) { try connection.run(insertion, values) }
        } catch {
            guard connection.withHandle({ sqlite3_errcode($0) & 0xff == SQLITE_CONSTRAINT }) else { throw error }
            throw StoreError(
                .changedMeanwhile,
                path: connection.location.path,
                "cannot roll back the merge: a later row of the table \(row.table) has the key of a deleted row"
            )
        }
    }

    /// Sets the changed columns of a row, given all its recorded columns.
    private func set(_ row: UnkeyedRow, _ values: [SQLValue], in connection: StoreConnection) throws {
        let (key, changed) = (
            row.columns.indices.filter { row.keyColumns.contains(row.columns[$0]) },
            row.columns.indices.filter { !row.keyColumns.contains(row.columns[$0]) }
        )
        func list(_ columns: [Int], _ form: String, _ separator: String) -> String {
            columns.map { "\(SQLName.quoted(row.columns[$0])) \(form) ?\($0 + 1)" }.joined(separator: separator)
        }
        let update =
            "UPDATE \(SQLName.quoted(row.table)) SET \(list(changed, "=", ", ")) WHERE \(list(key, "IS", " AND "))"
        try connection.lending([reader]) { try connection.run(update, values) }
    }

    /// Restores the header fields that the merge changed.
    func restoreHeader(of connection: StoreConnection) throws {
        for (field, numbers) in (reader.header.fields ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard StoreDefinitions.headerFields.contains(field), numbers.count == 2 else { continue }
            guard try connection.value("PRAGMA " + field) == .integer(numbers[1]) else {
                throw StoreError(
                    .changedMeanwhile,
                    path: connection.location.path,
                    "cannot roll back the merge: the header field \(field) was changed later"
                )
            }
            try connection.execute("PRAGMA \(field) = \(numbers[0])")
        }
    }

    /// Drops the merge's definitions, if they are unchanged since the merge.
    func dropCreated(in connection: StoreConnection) throws {
        for created in reader.header.created ?? [] {
            let entry = try StoreDefinitions(reading: connection)
                .entries[StoreDefinitions.Key(type: created.type, name: created.name)]
            let table = created.rows == nil ? nil : try StoreSchema(reading: connection).table(named: created.name)
            let rows = try table.map { try StoreDigest.digest(of: $0, in: connection).digest }
            guard entry?.digest == created.definition, rows == created.rows,
                ["table", "index", "view", "trigger"].contains(created.type)
            else {
                throw StoreError(
                    .changedMeanwhile,
                    path: connection.location.path,
                    "cannot roll back the merge: the \(created.type) \(created.name) was changed later"
                )
            }
            try connection.execute("DROP \(created.type.uppercased()) \(SQLName.quoted(created.name))")
        }
    }

    /// Removes the row that the merge wrote, if it is unchanged since the merge.
    private func remove(_ row: UnkeyedRow, _ schema: StoreSchema, _ connection: StoreConnection) throws {
        guard let after = row.after?.map({ $0.sqlValue(from: reader) }) else { return }
        let table = SQLName.quoted(row.table)
        // The columns that select the row; large values are compared afterwards.
        let named = row.columns.indices.filter { place in
            row.keyColumns.isEmpty ? !after[place].isLarge : row.keyColumns.contains(row.columns[place])
        }
        let conditions = named.enumerated().map { "\(SQLName.quoted(row.columns[$0.element])) IS ?\($0.offset + 1)" }
        let condition = (["1"] + conditions).joined(separator: " AND ")
        let key = named.map { after[$0] }
        guard let found = try find(row, after, where: condition, key, schema, connection) else {
            throw StoreError(
                .changedMeanwhile,
                path: connection.location.path,
                "cannot roll back the merge: a row of the table \(row.table) was changed later"
            )
        }
        if row.isInPlace {
            let before = row.before?.map { $0.sqlValue(from: reader) }
            let empty = row.columns.indices.map { row.keyColumns.contains(row.columns[$0]) ? after[$0] : .null }
            try set(row, before ?? empty, in: connection)
        } else if row.keyColumns.isEmpty {
            let number = SQLName.quoted(schema.table(named: row.table)?.rowIDName ?? "rowid")
            try connection.run("DELETE FROM \(table) WHERE \(number) = ?", [.integer(found)])
        } else {
            try connection.run("DELETE FROM \(table) WHERE \(condition)", key)
        }
    }

    /// The number of a row that is just as the merge left it; nil when there is none.
    private func find(
        _ row: UnkeyedRow,
        _ after: [SQLValue],
        where condition: String,
        _ key: [SQLValue],
        _ schema: StoreSchema,
        _ connection: StoreConnection
    ) throws -> Int64? {
        let own = schema.table(named: row.table)
        return try connection.referencing(row.table) { byReference in
            let number = own?.rowIDName.map(SQLName.quoted) ?? "0"
            let list = row.columns.map { name in
                byReference && !row.keyColumns.contains(name)
                    ? connection.reference(to: name, of: row.table, rowID: own?.rowIDName)
                    : SQLName.quoted(name)
            }
            var found: Int64?
            let query =
                "SELECT \(([number] + list).joined(separator: ", ")) FROM \(SQLName.quoted(row.table)) WHERE \(condition)"
            try connection.forEachRow(query, key) { line in
                let rowNumber = line.integer(0)
                // Equal is not the same: 1 is equal to 1.0.
                let isSame = after.indices.allSatisfy {
                    let place = LargeValue.Place.cell(table: row.table, column: row.columns[$0], key: [], [])
                    return connection.value(of: line, $0 + 1, at: place) == after[$0]
                }
                if found == nil, isSame { found = rowNumber }
            }
            return found
        }
    }
}
