import CSQLite
import SafeFiles
import StoreFormat

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
            try restoreNotedRows(in: connection, schema) { row in
                touched.insert(row.table.lowercased())
                switch (row.before, row.after) {
                case (nil, _): deleted += 1
                case (_, nil): inserted += 1
                default: updated += 1
                }
            }
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

    /// Rolls back the changes to rows that SQLite's session extension does not see, and calls `body` with each.
    func restoreNotedRows(
        in connection: StoreConnection,
        _ schema: StoreSchema,
        _ body: (UnkeyedRow) throws -> Void
    ) throws {
        try reader.forEachRowBackwards { row in
            try body(row)
            try remove(row, schema, connection)
        }
        // Inserted rows are removed before deleted ones are restored, because they may have the same unique values.
        try reader.forEachRowBackwards { row in
            guard let before = row.before?.map(\.sqlValue) else { return }
            let list = row.columns.map(SQLName.quoted).joined(separator: ", ")
            let places = row.columns.map { _ in "?" }.joined(separator: ", ")
            do {
                try connection.run("INSERT INTO \(SQLName.quoted(row.table)) (\(list)) VALUES (\(places))", before)
            } catch {
                guard connection.withHandle({ sqlite3_errcode($0) & 0xff == SQLITE_CONSTRAINT }) else { throw error }
                throw StoreError(
                    .changedMeanwhile,
                    path: connection.location.path,
                    "the merge cannot be rolled back: a later row of the table \(row.table) has the key of a deleted row"
                )
            }
        }
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
        guard let after = row.after?.map(\.sqlValue) else { return }
        let table = SQLName.quoted(row.table)
        let list = row.columns.map(SQLName.quoted).joined(separator: ", ")
        let named = row.keyColumns.isEmpty ? row.columns : row.keyColumns
        let conditions = named.enumerated().map { "\(SQLName.quoted($0.element)) IS ?\($0.offset + 1)" }
        let condition = conditions.joined(separator: " AND ")
        let key = named.compactMap { name in row.columns.firstIndex(of: name).map { after[$0] } }
        let own = schema.table(named: row.table)?.rowIDName
        let number = row.keyColumns.isEmpty ? SQLName.quoted(own ?? "rowid") : "0"
        var found: Int64?
        try connection.forEachRow("SELECT \(number), \(list) FROM \(table) WHERE \(condition)", key) { line in
            // SQL equality is not identity: 1 equals 1.0.
            if found == nil, after.indices.allSatisfy({ line.value($0 + 1) == after[$0] }) { found = line.integer(0) }
        }
        guard let found else {
            throw StoreError(
                .changedMeanwhile,
                path: connection.location.path,
                "cannot roll back the merge: a row of the table \(row.table) was changed later"
            )
        }
        if row.keyColumns.isEmpty {
            try connection.run("DELETE FROM \(table) WHERE \(number) = ?", [.integer(found)])
        } else {
            try connection.run("DELETE FROM \(table) WHERE \(condition)", key)
        }
    }
}
