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

/// How a connection reads the large values of a table.
enum LargeValueAccess {
    /// With their rows.
    case whole
    /// One at a time, by statements: SQLite's incremental I/O does not support the table.
    case row
    /// In pieces, by SQLite's incremental I/O.
    case cell
}

/// The sources of the large values that a connection's statements are given.
final class LargeValueLenders {
    var sources: [any LargeValueSource] = []
}

/// The function that reads a text or blob: whole where it is small, else its size and digest.
///
/// Its argument is the value, or the table, column, row number and type of its cell.
enum LargeValueFunction {
    static let name = "large_value"

    /// The blob that represents a large value in a row.
    ///
    /// It begins with random bytes of this process, which no value of a store has.
    struct Mark {
        private static let prefix = (0..<16).map { _ in UInt8.random(in: 0...255) }
        private static let size = 16 + 1 + 8 + 32

        let isText: Bool
        let byteCount: Int
        let digest: [UInt8]

        init(isText: Bool, byteCount: Int, digest: [UInt8]) {
            (self.isText, self.byteCount, self.digest) = (isText, byteCount, digest)
        }

        init?(_ bytes: UnsafeRawBufferPointer) {
            guard bytes.count == Self.size, bytes.starts(with: Self.prefix) else { return nil }
            isText = bytes[16] == 1
            byteCount = bytes.loadUnaligned(fromByteOffset: 17, as: Int.self)
            digest = [UInt8](bytes[25...])
        }

        /// The same for equal values: rows of two stores are compared by it.
        var bytes: [UInt8] {
            Self.prefix + [isText ? 1 : 0] + withUnsafeBytes(of: byteCount) { [UInt8]($0) } + digest
        }
    }

    static func install(on connection: OpaquePointer, _ budget: StepBudget) throws(StoreError) {
        for count in [1, 4] as [Int32] {
            let code = sqlite3_create_function_v2(
                connection,
                name,
                count,
                SQLITE_UTF8 | SQLITE_DIRECTONLY,
                Unmanaged.passUnretained(budget).toOpaque(),
                { context, count, values in
                    guard let context, let values, let data = sqlite3_user_data(context) else { return }
                    let budget = Unmanaged<StepBudget>.fromOpaque(data).takeUnretainedValue()
                    if count == 1 {
                        LargeValueFunction.refer(context, values[0], budget)
                    } else {
                        LargeValueFunction.read(context, values, budget)
                    }
                },
                nil,
                nil,
                nil
            )
            guard code == SQLITE_OK else { throw SQLiteResult(code: code, of: connection).error(path: "") }
        }
    }

    /// Returns a small value itself, and of a large one its size and digest.
    private static func refer(_ context: OpaquePointer, _ value: OpaquePointer?, _ budget: StepBudget) {
        let type = sqlite3_value_type(value)
        guard type == SQLITE_TEXT || type == SQLITE_BLOB, sqlite3_value_bytes(value) > LargeValue.greatestWhole else {
            return sqlite3_result_value(context, value)
        }
        var hash = SHA256()
        do {
            try SQLValue.withBytes(of: value) { bytes in
                try forEachPiece(of: bytes) { piece in
                    try budget.checkCancellation()
                    hash.update(piece)
                }
            }
        } catch {
            return sqlite3_result_error_code(context, SQLITE_INTERRUPT)
        }
        let byteCount = Int(sqlite3_value_bytes(value))
        answer(context, Mark(isText: type == SQLITE_TEXT, byteCount: byteCount, digest: hash.digest))
    }

    private static func answer(_ context: OpaquePointer, _ mark: Mark) {
        let bytes = mark.bytes
        sqlite3_result_blob64(context, bytes, UInt64(bytes.count), copied)
    }

    /// SQLITE_TRANSIENT: SQLite copies the bytes before the call returns.
    private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    private static func read(
        _ context: OpaquePointer,
        _ values: UnsafeMutablePointer<OpaquePointer?>,
        _ budget: StepBudget
    ) {
        let row = sqlite3_value_int64(values[2])
        guard let blob = blob(context, values, row) else {
            return sqlite3_result_error_code(context, sqlite3_errcode(sqlite3_context_db_handle(context)))
        }
        let isText = sqlite3_value_bytes(values[3]) == 4 && sqlite3_value_text(values[3]).map { $0[0] } == 0x74
        let byteCount = Int(sqlite3_blob_bytes(blob))
        var whole: [UInt8] = []
        var hash = SHA256()
        do {
            try forEachPiece(of: blob) { piece in
                try budget.checkCancellation()
                if byteCount <= LargeValue.greatestWhole { whole += piece } else { hash.update(piece) }
            } ifNot: { code in
                throw SQLiteResult(code: code, detail: "").error(path: "")
            }
        } catch {
            let isStopped = (error as? StoreError)?.code == .cancelled
            return sqlite3_result_error_code(context, isStopped ? SQLITE_INTERRUPT : SQLITE_IOERR)
        }
        if byteCount > LargeValue.greatestWhole {
            answer(context, Mark(isText: isText, byteCount: byteCount, digest: hash.digest))
        } else if isText {
            whole.withUnsafeBytes { bytes in
                let start = bytes.bindMemory(to: CChar.self).baseAddress
                sqlite3_result_text64(context, start, UInt64(bytes.count), copied, UInt8(SQLITE_UTF8))
            }
        } else {
            sqlite3_result_blob64(context, whole, UInt64(whole.count), copied)
        }
    }

    /// The handle of the column, which lives as long as the statement, on one of its rows.
    private static func blob(
        _ context: OpaquePointer,
        _ values: UnsafeMutablePointer<OpaquePointer?>,
        _ row: Int64
    ) -> OpaquePointer? {
        if let kept = sqlite3_get_auxdata(context, 1) {
            let blob = OpaquePointer(kept)
            return sqlite3_blob_reopen(blob, row) == SQLITE_OK ? blob : nil
        }
        func text(_ value: OpaquePointer?) -> UnsafePointer<CChar>? {
            sqlite3_value_text(value).map { UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self) }
        }
        var blob: OpaquePointer?
        let connection = sqlite3_context_db_handle(context)
        guard sqlite3_blob_open(connection, "main", text(values[0]), text(values[1]), row, 0, &blob) == SQLITE_OK,
            let blob
        else { return nil }
        sqlite3_set_auxdata(context, 1, UnsafeMutableRawPointer(blob)) { sqlite3_blob_close(OpaquePointer($0)) }
        return sqlite3_get_auxdata(context, 1).map { OpaquePointer($0) }
    }

    static func forEachPiece(
        of bytes: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        for start in stride(from: 0, to: bytes.count, by: LargeValue.greatestWhole) {
            try body(UnsafeRawBufferPointer(rebasing: bytes[start...].prefix(LargeValue.greatestWhole)))
        }
    }

    static func forEachPiece(
        of blob: OpaquePointer?,
        _ body: (UnsafeRawBufferPointer) throws -> Void,
        ifNot refused: (Int32) throws -> Void
    ) throws {
        let size = Int(sqlite3_blob_bytes(blob))
        let piece = UnsafeMutableRawBufferPointer.allocate(
            byteCount: min(max(size, 1), LargeValue.greatestWhole),
            alignment: 16
        )
        defer { piece.deallocate() }
        var offset = 0
        while offset < size {
            let count = min(piece.count, size - offset)
            let code = sqlite3_blob_read(blob, piece.baseAddress, Int32(count), Int32(clamping: offset))
            guard code == SQLITE_OK else { return try refused(code) }
            try body(UnsafeRawBufferPointer(rebasing: piece[..<count]))
            offset += count
        }
    }
}
