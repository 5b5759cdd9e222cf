internal import CSQLite

/// Values of a row in one block of memory, for rows that a program keeps: a fraction of the space of ``SQLValue``s.
///
/// A value is decoded each time it is read, and texts keep their exact bytes. A field number out of range reads as null.
package struct PackedRow: Sendable {
    /// The number of fields; a mark for each; then the bytes of the fields in order.
    private let bytes: [UInt8]

    /// How a field is stored, in one byte.
    private struct Mark {
        enum Kind: UInt8 {
            case null
            case integer
            case real
            case blob
            case text
            case textUTF16LittleEndian
            case textUTF16BigEndian
        }

        /// The kind, and the number of bytes of an integer, a real, or the length of a text or blob.
        let byte: UInt8

        init(_ kind: Kind, width: Int) { byte = kind.rawValue << 4 | UInt8(truncatingIfNeeded: width) }
        init(byte: UInt8) { self.byte = byte }

        var kind: Kind { Kind(rawValue: byte >> 4) ?? .null }
        var width: Int { Int(byte & 15) }
        var hasLength: Bool { byte >> 4 >= Kind.blob.rawValue }

        var encoding: SQLText.Encoding? {
            switch kind {
            case .text: .utf8
            case .textUTF16LittleEndian: .utf16LittleEndian
            case .textUTF16BigEndian: .utf16BigEndian
            default: nil
            }
        }
    }

    /// The number of bytes of the number of fields.
    private static let prefix = 2

    /// The size of the packed values.
    package var byteCount: Int { bytes.count }

    /// Copies the values of some columns; the field numbers are the indexes of `columns`.
    package init(_ row: borrowing StoreRow, _ columns: [Int]) {
        let start = Self.prefix + columns.count
        bytes = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: columns.count) { marks in
            var size = start
            for (field, column) in columns.enumerated() {
                let (mark, length) = Self.mark(of: row.stored(column))
                marks.initializeElement(at: field, to: mark.byte)
                size += mark.width + length
            }
            return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
                let target = UnsafeMutableRawBufferPointer(buffer)
                Self.store(Int64(columns.count), width: Self.prefix, to: target, at: 0)
                target[Self.prefix..<start].copyBytes(from: marks)
                var end = start
                for (field, column) in columns.enumerated() {
                    end = Self.append(row.stored(column), Mark(byte: marks[field]), to: target, at: end)
                }
                count = end
            }
        }
    }

    /// The mark of a value, and the length of its text or blob.
    private static func mark(of value: OpaquePointer?) -> (Mark, Int) {
        switch StorageClass(rawValue: sqlite3_value_type(value)) ?? .null {
        case .null: return (Mark(.null, width: 0), 0)
        case .integer: return (Mark(.integer, width: width(of: sqlite3_value_int64(value))), 0)
        case .real: return (Mark(.real, width: 8), 0)
        case .blob:
            let length = SQLValue.withBytes(of: value) { $0.count }
            return (Mark(.blob, width: width(of: Int64(length))), length)
        case .text:
            let length = SQLValue.withBytes(of: value) { $0.count }
            let kind: Mark.Kind =
                switch SQLText.Encoding(rawValue: sqlite3_value_encoding(value)) {
                case .utf16LittleEndian: .textUTF16LittleEndian
                case .utf16BigEndian: .textUTF16BigEndian
                case .utf8, nil: .text
                }
            return (Mark(kind, width: width(of: Int64(length))), length)
        }
    }

    /// Writes a value, and returns the offset after it.
    private static func append(
        _ value: OpaquePointer?,
        _ mark: Mark,
        to target: UnsafeMutableRawBufferPointer,
        at offset: Int
    ) -> Int {
        let end = offset + mark.width
        switch mark.kind {
        case .null: break
        case .integer: store(sqlite3_value_int64(value), width: mark.width, to: target, at: offset)
        case .real:
            let pattern = Int64(bitPattern: sqlite3_value_double(value).bitPattern)
            store(pattern, width: mark.width, to: target, at: offset)
        case .blob, .text, .textUTF16LittleEndian, .textUTF16BigEndian:
            return SQLValue.withBytes(of: value) { bytes in
                // Without memory for the value, SQLite may have given another length before.
                let bytes = UnsafeRawBufferPointer(rebasing: bytes.prefix(target.count - end))
                store(Int64(bytes.count), width: mark.width, to: target, at: offset)
                UnsafeMutableRawBufferPointer(rebasing: target[end...]).copyMemory(from: bytes)
                return end + bytes.count
            }
        }
        return end
    }

    // MARK: Reading

    /// The storage class of a field.
    package func type(_ field: Int) -> StorageClass {
        switch mark(field)?.kind {
        case .null, nil: .null
        case .integer: .integer
        case .real: .real
        case .blob: .blob
        case .text, .textUTF16LittleEndian, .textUTF16BigEndian: .text
        }
    }

    /// The integer; 0 if the field has another type.
    package func integer(_ field: Int) -> Int64 {
        guard let mark = mark(field), mark.kind == .integer else { return 0 }
        return bytes.withUnsafeBytes { Self.load($0, width: mark.width, at: Self.offset(of: field, in: $0)) }
    }

    /// The real, or the integer as a real; 0 if the field has another type.
    package func real(_ field: Int) -> Double {
        guard let mark = mark(field) else { return 0 }
        switch mark.kind {
        case .integer: return Double(integer(field))
        case .real:
            let pattern = bytes.withUnsafeBytes {
                Self.load($0, width: mark.width, at: Self.offset(of: field, in: $0))
            }
            return Double(bitPattern: UInt64(bitPattern: pattern))
        default: return 0
        }
    }

    /// The text for display and names, if the field is a text; ``value(_:)`` has its exact bytes.
    package func text(_ field: Int) -> String? {
        guard let encoding = mark(field)?.encoding else { return nil }
        return withBytes(field) {
            // The same text as by way of the exact one, without a second pass.
            encoding == .utf8 ? String(decoding: $0, as: UTF8.self) : SQLText($0, encoding).string
        }
    }

    /// Passes the bytes of a text or a blob as stored; none for another type.
    package func withBytes<R>(_ field: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try bytes.withUnsafeBytes { bytes in
            guard let mark = mark(field), mark.hasLength else {
                return try body(UnsafeRawBufferPointer(rebasing: bytes[..<0]))
            }
            let offset = Self.offset(of: field, in: bytes)
            let (start, length) = (offset + mark.width, Int(Self.load(bytes, width: mark.width, at: offset)))
            return try body(UnsafeRawBufferPointer(rebasing: bytes[start..<start + length]))
        }
    }

    /// The value with its storage class.
    package func value(_ field: Int) -> SQLValue {
        switch type(field) {
        case .null: .null
        case .integer: .integer(integer(field))
        case .real: .real(real(field))
        case .blob: .blob(withBytes(field) { [UInt8]($0) })
        case .text: .text(withBytes(field) { SQLText($0, mark(field)?.encoding ?? .utf8) })
        }
    }

    private func mark(_ field: Int) -> Mark? {
        let count = bytes.withUnsafeBytes { Int(Self.load($0, width: Self.prefix, at: 0)) }
        return field >= 0 && field < count ? Mark(byte: bytes[Self.prefix + field]) : nil
    }

    /// The offset of a field that exists.
    private static func offset(of field: Int, in bytes: UnsafeRawBufferPointer) -> Int {
        var offset = prefix + Int(load(bytes, width: prefix, at: 0))
        for mark in bytes[prefix..<prefix + field] {
            let mark = Mark(byte: mark)
            offset += mark.width + (mark.hasLength ? Int(load(bytes, width: mark.width, at: offset)) : 0)
        }
        return offset
    }

    // MARK: Integers

    /// The number of bytes that an integer needs; none for 0.
    private static func width(of integer: Int64) -> Int {
        guard integer != 0 else { return 0 }
        let magnitude = integer < 0 ? ~integer : integer
        return (64 - magnitude.leadingZeroBitCount) / 8 + 1
    }

    private static func store(
        _ integer: Int64,
        width: Int,
        to target: UnsafeMutableRawBufferPointer,
        at offset: Int
    ) {
        for byte in 0..<width { target[offset + byte] = UInt8(truncatingIfNeeded: integer >> Int64(byte * 8)) }
    }

    private static func load(_ bytes: UnsafeRawBufferPointer, width: Int, at offset: Int) -> Int64 {
        var pattern: UInt64 = 0
        for byte in 0..<width { pattern |= UInt64(bytes[offset + byte]) << UInt64(byte * 8) }
        let unused = Int64(64 - width * 8)
        return width == 0 ? 0 : Int64(bitPattern: pattern << UInt64(unused)) >> unused
    }
}
