package import SafeFiles
package import StoreAccess

/// Whether a store has what a recorded merge wrote; decides after the store may have been replaced.
package enum MergePresence: Hashable, Sendable {
    /// Every row is as the merge left it.
    case whole
    /// No row is.
    case none
    /// Some rows are, or the record names none.
    case unclear

    /// Looks up the rows of a record, until some were found and others not.
    package init(of record: DurableFile, in connection: StoreConnection, _ monitor: WorkMonitor) throws {
        let reader = try RecordingReader(record)
        let schema = try StoreSchema(reading: connection)
        var (found, missing) = (false, false)
        func note(_ isPresent: Bool) throws {
            try monitor.checkCancellation()
            if isPresent { found = true } else { missing = true }
            if found, missing { throw Mixed() }
        }
        do {
            try reader.forEachChange { change in try note(change.isInForce(in: connection, schema)) }
            try reader.forEachRowBackwards { row in try note(row.isInForce(in: connection, schema)) }
        } catch is Mixed {}
        switch (found, missing) {
        case (true, false): self = .whole
        case (false, true): self = .none
        default: self = .unclear
        }
    }

    private struct Mixed: Error {}
}

extension StoreConnection {
    /// True if a table has a row with these values; false without the table or one of the columns.
    fileprivate func hasRow(_ values: [(column: String, value: SQLValue)], in table: StoreSchema.Table?) throws -> Bool
    {
        guard let table, values.allSatisfy({ value in table.columns.contains { $0.name == value.column } }) else {
            return false
        }
        let terms = values.map { "\(SQLName.quoted($0.column)) IS ?" }.joined(separator: " AND ")
        let sql = "SELECT 1 FROM \(SQLName.quoted(table.name)) WHERE \(terms.isEmpty ? "1" : terms) LIMIT 1"
        return try value(sql, values.map(\.value)) != nil
    }
}

extension RecordedChange {
    /// True if the row is as the merge left it; the change is inverted.
    fileprivate func isInForce(in connection: StoreConnection, _ schema: StoreSchema) throws -> Bool {
        guard let table = schema.table(named: table), table.columns.count >= before.count else {
            return kind == .insert
        }
        func values(_ columns: some Sequence<Int>, of row: [SQLValue?]) -> [(column: String, value: SQLValue)] {
            columns.compactMap { column in row[column].map { (table.columns[column].name, $0) } }
        }
        guard kind == .insert else { return try connection.hasRow(values(before.indices, of: before), in: table) }
        return try !connection.hasRow(values(keyColumns, of: after), in: table)
    }
}

extension UnkeyedRow {
    /// True if the row is as the merge left it; large values are not compared.
    fileprivate func isInForce(in connection: StoreConnection, _ schema: StoreSchema) throws -> Bool {
        func hasRow(_ row: [RecordedValue]) throws -> Bool {
            let values = zip(columns, row)
                .compactMap { column, value in
                    if case .whole(let value) = value { (column: column, value: value.sqlValue) } else { nil }
                }
            return try connection.hasRow(values, in: schema.table(named: table))
        }
        if let after { return try hasRow(after) }
        return try before.map { try !hasRow($0) } ?? true
    }
}
