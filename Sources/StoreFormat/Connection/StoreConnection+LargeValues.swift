internal import CSQLite
internal import Glibc

/// How a connection reads rows whose texts and blobs are larger than ``LargeValue/greatestWhole``.
///
/// Source: incremental I/O of SQLite's documentation (`sqlite3_blob_open`).
extension StoreConnection: LargeValueSource {
    /// Runs `body`, which reads rows of one table, without holding large values.
    ///
    /// At the first large value `body` is called again, and selects ``reference(to:of:rowID:)`` instead of columns if
    /// SQLite's incremental I/O reads single values of the table. If `table` is nil, large values are held.
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
        if !connections.contains(where: { $0.tablesWithLargeValues[table] != nil }) {
            do {
                return try withValueLimit(on: connections[...]) { try body(false) }
            } catch let error as StoreError where error.code == .valueTooLarge {}
        }
        // Values of several stores are compared: all of them are references, or none is.
        let byReference = try connections.allSatisfy { try $0.opensSingleValues(of: table) }
        for connection in connections {
            if byReference, !connection.tablesWithLargeValues.values.contains(true) {
                try LargeValueFunction.install(on: connection.openHandle(), connection.budget)
            }
            connection.tablesWithLargeValues[table] = byReference
        }
        return try body(byReference)
    }

    /// True without such a table as well; false in UTF-16, whose bytes differ from those of an equal text in UTF-8.
    private func opensSingleValues(of table: String) throws -> Bool {
        if let known = tablesWithLargeValues[table] { return known }
        return try value("PRAGMA encoding")?.text == "UTF-8"
            && StoreSchema(reading: self).table(named: table)?.opensSingleValues ?? true
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
    package func referencesLargeValues(of table: String) -> Bool { tablesWithLargeValues[table] == true }

    /// What a query selects in place of a column; ``value(of:_:from:_:rowNumber:)`` reads it.
    package static func reference(to column: String, of table: String, rowID: String) -> String {
        let name = SQLName.quoted(column)
        // What `typeof` and the length of a blob ask is in the row's header; the value itself is not fetched.
        return "CASE WHEN typeof(\(name)) = 'text' OR (typeof(\(name)) = 'blob' AND length(\(name)) > "
            + "\(LargeValue.greatestWhole)) THEN \(LargeValueFunction.name)(\(SQLName.literal(table)), "
            + "\(SQLName.literal(column)), \(SQLName.quoted(rowID)), typeof(\(name))) ELSE \(name) END"
    }

    /// The value of a column that was selected by reference, or as it is.
    package func value(
        of row: borrowing StoreRow,
        _ position: Int,
        from table: String,
        _ column: String,
        rowNumber: Int64
    ) -> SQLValue {
        guard row.type(position) == .blob, let mark = row.withBytes(position, LargeValueFunction.Mark.init) else {
            return row.value(position)
        }
        return .large(
            LargeValue(
                isText: mark.isText,
                byteCount: mark.byteCount,
                digest: mark.digest,
                at: .cell(table: table, column: column, row: rowNumber),
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
        guard case .cell(let table, let column, let row) = value.place else { return }
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
}

/// The sources of the large values that a connection's statements are given.
final class LargeValueLenders {
    var sources: [any LargeValueSource] = []
}

/// The function that reads a text or blob of a cell: whole where it is small, else its size and digest.
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
        let code = sqlite3_create_function_v2(
            connection,
            name,
            4,
            SQLITE_UTF8 | SQLITE_DIRECTONLY,
            Unmanaged.passUnretained(budget).toOpaque(),
            { context, _, values in
                guard let context, let values, let data = sqlite3_user_data(context) else { return }
                LargeValueFunction.read(context, values, Unmanaged<StepBudget>.fromOpaque(data).takeUnretainedValue())
            },
            nil,
            nil,
            nil
        )
        guard code == SQLITE_OK else { throw SQLiteResult(code: code, of: connection).error(path: "") }
    }

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
        // SQLITE_TRANSIENT: SQLite copies the bytes before the call returns.
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        if byteCount > LargeValue.greatestWhole {
            let mark = Mark(isText: isText, byteCount: byteCount, digest: hash.digest).bytes
            sqlite3_result_blob64(context, mark, UInt64(mark.count), copied)
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
