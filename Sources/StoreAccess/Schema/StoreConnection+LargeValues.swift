internal import CSQLite
internal import Glibc

/// How a connection reads rows whose texts and blobs are larger than ``LargeValue/greatestWhole``.
///
/// Source: incremental I/O of SQLite's documentation (`sqlite3_blob_open`).
extension StoreConnection: LargeValueSource {
    /// Runs `body`, which reads rows of one table, without holding large values.
    ///
    /// At the first large value `body` is called again, and selects ``reference(to:of:rowID:)`` instead of columns,
    /// unless the store is in UTF-16. If `table` is nil, large values are held.
    package func referencing<R>(_ table: String?, _ body: (_ byReference: Bool) throws -> R) throws -> R {
        try Self.referencing([self], table, body)
    }

    /// The same for a table of several stores whose values are compared: all stores return references, or none.
    package static func referencing<R>(
        _ connections: [StoreConnection],
        _ table: String?,
        _ body: (_ byReference: Bool) throws -> R
    ) throws -> R {
        guard let table else { return try body(false) }
        if !connections.contains(where: { $0.largeValueAccess[table] != nil }) {
            do {
                return try withValueLimit(on: connections[...]) { try body(false) }
            } catch let error as StoreError where error.code == .valueTooLarge {}
        }
        // Values of several stores are compared: all of them are references, or none is.
        let accesses = try connections.map { try $0.access(toLargeValuesOf: table) }
        let byReference = !accesses.contains(.whole)
        for (connection, access) in zip(connections, accesses) {
            try connection.setAccess(byReference ? access : .whole, toLargeValuesOf: table)
        }
        return try body(byReference)
    }

    /// Reads by reference each table that `other` reads by reference, because values of its rows are written here.
    package func referenceTables(referencedBy other: StoreConnection) throws {
        for (table, access) in other.largeValueAccess where access != .whole && largeValueAccess[table] == nil {
            try setAccess(self.access(toLargeValuesOf: table), toLargeValuesOf: table)
        }
    }

    private func setAccess(_ access: LargeValueAccess, toLargeValuesOf table: String) throws {
        if access != .whole, !largeValueAccess.values.contains(where: { $0 != .whole }) {
            try LargeValueFunction.install(on: openHandle(), budget)
        }
        largeValueAccess[table] = access
    }

    private func access(toLargeValuesOf table: String) throws -> LargeValueAccess {
        if let known = largeValueAccess[table] { return known }
        // In UTF-16, the bytes of a text differ from those of an equal text in UTF-8.
        guard try value("PRAGMA encoding")?.text == "UTF-8" else { return .whole }
        let opensCells = try StoreSchema(reading: self).table(named: table)?.opensSingleValues ?? true
        return opensCells ? .cell : .row
    }

    private static func withValueLimit<R>(on connections: ArraySlice<StoreConnection>, _ body: () throws -> R) throws
        -> R
    {
        guard let first = connections.first else { return try body() }
        return try first.withValueLimit(LargeValue.greatestWhole) {
            try withValueLimit(on: connections.dropFirst(), body)
        }
    }

    /// True for a table in which ``referencing(_:_:)`` met a large value and read it by reference.
    package func referencesLargeValues(of table: String) -> Bool {
        largeValueAccess[table].map { $0 != .whole } ?? false
    }

    /// What a query selects in place of a column; ``value(of:_:at:)`` reads it.
    package func reference(to column: String, of table: String, rowID: String?) -> String {
        let name = SQLName.quoted(column)
        guard let rowID, largeValueAccess[table] == .cell else { return "\(LargeValueFunction.name)(\(name))" }
        // What `typeof` and the length of a blob ask is in the row's header; the value itself is not fetched.
        return "CASE WHEN typeof(\(name)) = 'text' OR (typeof(\(name)) = 'blob' AND length(\(name)) > "
            + "\(LargeValue.greatestWhole)) THEN \(LargeValueFunction.name)(\(SQLName.literal(table)), "
            + "\(SQLName.literal(column)), \(SQLName.quoted(rowID)), typeof(\(name))) ELSE \(name) END"
    }

    /// The value of a column that was selected by reference, or as it is.
    package func value(
        of row: borrowing StoreRow,
        _ position: Int,
        at place: @autoclosure () -> LargeValue.Place
    ) -> SQLValue {
        guard row.type(position) == .blob, let mark = row.withBytes(position, LargeValueFunction.Mark.init) else {
            return row.value(position)
        }
        return .large(
            LargeValue(
                isText: mark.isText,
                byteCount: mark.byteCount,
                digest: mark.digest,
                at: place(),
                of: self
            )
        )
    }

    /// Throws where the caller asked the statements of this connection to stop.
    package func checkCancellation() throws(StoreError) { try budget.checkCancellation() }

    /// Runs `body`, in which large values of these sources can be bound.
    package func lending<R>(_ sources: [any LargeValueSource], _ body: () throws -> R) rethrows -> R {
        try Self.lending(sources, to: [self], body)
    }

    /// The same for the statements of several connections.
    package static func lending<R>(
        _ sources: [any LargeValueSource],
        to connections: [StoreConnection],
        _ body: () throws -> R
    ) rethrows -> R {
        let formers = connections.map(\.lenders.sources)
        for connection in connections { connection.lenders.sources = sources }
        defer { for (connection, former) in zip(connections, formers) { connection.lenders.sources = former } }
        return try body()
    }

    package func forEachPiece(of value: LargeValue, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard case .cell(let table, let column, let key, let values) = value.place else { return }
        guard largeValueAccess[table] == .cell, let row = values.first?.integer else {
            return try forEachPiece(ofColumn: column, of: table, key, values, body)
        }
        var blob: OpaquePointer?
        let code = try sqlite3_blob_open(openHandle(), "main", table, column, row, 0, &blob)
        defer { sqlite3_blob_close(blob) }
        guard code == SQLITE_OK else { throw lastError }
        try LargeValueFunction.forEachPiece(of: blob) { piece in
            try budget.checkCancellation()
            try body(piece)
        } ifNot: { _ in
            throw lastError
        }
    }

    /// The same where SQLite has to hold the value.
    private func forEachPiece(
        ofColumn column: String,
        of table: String,
        _ key: [String],
        _ values: [SQLValue],
        _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let conditions = key.enumerated()
            .map { index, name in
                let name = SQLName.quoted(name)
                // The first comparison lets SQLite use the key's index; the second distinguishes upper and lower case.
                return "\(name) = ?\(index + 1) AND \(name) COLLATE BINARY = ?\(index + 1)"
            }
        let query = "SELECT \(SQLName.quoted(column)) FROM \(SQLName.quoted(table)) WHERE "
        try forEachRow(query + conditions.joined(separator: " AND "), values) { row in
            try row.withBytes(0) { bytes in
                try LargeValueFunction.forEachPiece(of: bytes) { piece in
                    try budget.checkCancellation()
                    try body(piece)
                }
            }
        }
    }
}
