internal import CSQLite

extension SQLValue {
    /// Copies a value of SQLite's exactly.
    package init(copying value: OpaquePointer?) {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: self = .integer(sqlite3_value_int64(value))
        case SQLITE_FLOAT: self = .real(sqlite3_value_double(value))
        case SQLITE_TEXT: self = .text(SQLText(copying: value))
        case SQLITE_BLOB: self = .blob(Self.withBytes(of: value) { [UInt8]($0) })
        default: self = .null
        }
    }

    /// Lends the bytes of a text or a blob as they are stored.
    static func withBytes<R>(
        of value: OpaquePointer?,
        _ body: (UnsafeRawBufferPointer) throws -> R
    ) rethrows -> R {
        // Reading the blob first keeps SQLite from converting a text to another encoding.
        let start = sqlite3_value_blob(value)
        let count = Int(sqlite3_value_bytes(value))
        return try body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
    }
}

extension SQLText {
    /// Copies a text of SQLite's exactly.
    init(copying value: OpaquePointer?) {
        let encoding = Encoding(rawValue: sqlite3_value_encoding(value)) ?? .utf8
        self = SQLValue.withBytes(of: value) { SQLText($0, encoding) }
    }

    /// Passes the text so that SQLite stores it unchanged: with its encoding, and never with a null pointer, which
    /// means NULL.
    func withSQLiteBytes<R>(_ body: (UnsafeBufferPointer<CChar>, UInt8) throws -> R) rethrows -> R {
        try withBytes { bytes, encoding in
            if encoding != .utf8 {
                // SQLite removes one byte order mark, and derives the encoding from it.
                let mark: [UInt8] = encoding == .utf16LittleEndian ? [0xff, 0xfe] : [0xfe, 0xff]
                return try (mark + bytes).withUnsafeBytes { try body($0.bindMemory(to: CChar.self), encoding.code) }
            }
            guard bytes.baseAddress != nil else {
                return try withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1) {
                    try body(UnsafeBufferPointer(rebasing: $0[..<0]), encoding.code)
                }
            }
            return try body(bytes.bindMemory(to: CChar.self), encoding.code)
        }
    }
}

extension SQLText.Encoding {
    fileprivate var code: UInt8 { UInt8(truncatingIfNeeded: rawValue) }
}
