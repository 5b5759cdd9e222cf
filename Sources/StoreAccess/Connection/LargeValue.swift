internal import CSQLite
internal import Glibc

/// A text or blob too large to be held: its size, its digest, and where its bytes are read in pieces.
///
/// Large values are equal when their storage classes and their bytes are.
package struct LargeValue: Sendable {
    /// The size of the greatest value that is held whole, and of a piece of a larger one.
    package static let greatestWhole = 1 << 18

    /// Where a ``LargeValueSource`` finds the bytes.
    package enum Place: Hashable, Sendable {
        /// A column of the row whose `key` columns have these values.
        case cell(table: String, column: String, key: [String], [SQLValue])
        /// A file of its own, by its name in the folder of external data.
        case file(String)
        /// A part of a file that has several, by its number.
        case part(Int)
    }

    package let isText: Bool
    package let byteCount: Int
    /// SHA-256.
    package let digest: [UInt8]
    package let place: Place
    private let source: ObjectIdentifier

    package init(isText: Bool, byteCount: Int, digest: [UInt8], at place: Place, of source: any LargeValueSource) {
        self.isText = isText
        self.byteCount = byteCount
        self.digest = digest
        self.place = place
        self.source = ObjectIdentifier(source)
    }

    /// Calls `body` with the bytes, piece by piece; throws at the end if they are not the ones that were compared.
    package func forEachPiece(
        from sources: [any LargeValueSource],
        _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        guard let source = sources.first(where: { ObjectIdentifier($0) == source }) else {
            throw StoreError(.failed, path: "", "a large value is read after its store was left")
        }
        var hash = SHA256()
        try source.forEachPiece(of: self) { piece in
            hash.update(piece)
            try body(piece)
        }
        guard hash.digest == digest else {
            throw StoreError(.changedMeanwhile, path: "", "a large value changed while it was read")
        }
    }
}

extension LargeValue: Hashable {
    package static func == (left: Self, right: Self) -> Bool {
        left.isText == right.isText && left.byteCount == right.byteCount && left.digest == right.digest
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

/// What reads the bytes of large values: a connection reads cells, the reader of a file its parts.
package protocol LargeValueSource: AnyObject {
    /// Calls `body` with the bytes in order, in pieces of at most ``LargeValue/greatestWhole``.
    func forEachPiece(of value: LargeValue, _ body: (UnsafeRawBufferPointer) throws -> Void) throws
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
