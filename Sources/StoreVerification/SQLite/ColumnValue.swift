internal import CSQLite

/// One value of a scan's current row, as it is stored; text and blobs are borrowed until the next step.
struct ColumnValue {
    /// The storage classes in the order in which SQLite sorts them.
    enum Order: UInt64 {
        case null = 0
        case number = 1
        case text = 2
        case blob = 3
    }

    let order: Order
    /// True for an integer, false for a real; used for numbers only.
    let isInteger: Bool
    /// The bits of the number.
    let bits: UInt64
    /// The bytes of a text or blob.
    let bytes: UnsafeRawBufferPointer

    static var null: Self {
        ColumnValue(order: .null, isInteger: false, bits: 0, bytes: .init(start: nil, count: 0))
    }

    @inline(__always)
    init(order: Order, isInteger: Bool, bits: UInt64, bytes: UnsafeRawBufferPointer) {
        self.order = order
        self.isInteger = isInteger
        self.bits = bits
        self.bytes = bytes
    }

    /// Reads column `index` of the current row of `statement`.
    ///
    /// The bytes of a text are read as a blob, which avoids the copy that a terminating zero would need. Reading through the
    /// value is sound on a connection without a mutex, as all of ours are.
    @inline(__always)
    init(_ statement: OpaquePointer, _ index: Int32) {
        guard let value = sqlite3_column_value(statement, index) else {
            self = .null
            return
        }
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER:
            let number = sqlite3_value_int64(value)
            self.init(
                order: .number,
                isInteger: true,
                bits: UInt64(bitPattern: number),
                bytes: .init(start: nil, count: 0)
            )
        case SQLITE_FLOAT:
            // Minus zero equals zero and may be stored as either.
            let number = sqlite3_value_double(value)
            self.init(
                order: .number,
                isInteger: false,
                bits: (number == 0 ? 0 : number).bitPattern,
                bytes: .init(start: nil, count: 0)
            )
        case SQLITE_TEXT:
            self.init(order: .text, isInteger: false, bits: 0, bytes: Self.bytes(value))
        case SQLITE_BLOB:
            self.init(order: .blob, isInteger: false, bits: 0, bytes: Self.bytes(value))
        default:
            self = .null
        }
    }

    @inline(__always)
    private static func bytes(_ value: OpaquePointer) -> UnsafeRawBufferPointer {
        let start = sqlite3_value_blob(value)
        let count = Int(sqlite3_value_bytes(value))
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : max(0, count))
    }

    var integer: Int64 { Int64(bitPattern: bits) }
    var real: Double { Double(bitPattern: bits) }

    /// Absorbs storage class and value.
    @inline(__always)
    func absorb(into state: inout KeyedHash.State, with hash: KeyedHash) {
        switch order {
        case .null: hash.absorb(0x10, 0, into: &state)
        case .number: hash.absorb(isInteger ? 0x20 : 0x21, bits, into: &state)
        case .text: hash.absorb(bytes, tag: 0x30, into: &state)
        case .blob: hash.absorb(bytes, tag: 0x40, into: &state)
        }
    }
}
