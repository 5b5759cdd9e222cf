internal import CSQLite
internal import Glibc

/// One value as SQLite stores it, with its storage class.
package enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(SQLText)
    case blob([UInt8])
    /// A text or blob that is read in pieces.
    case large(LargeValue)

    package var isLarge: Bool { if case .large = self { true } else { false } }

    /// The integer, if it is stored as one.
    package var integer: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    package static func text(_ string: String) -> SQLValue { .text(SQLText(string)) }

    /// The text for display and names, if it is stored as text.
    package var text: String? {
        if case .text(let value) = self { value.string } else { nil }
    }

    /// The bytes, if they are stored as a blob.
    package var blob: [UInt8]? {
        if case .blob(let value) = self { value } else { nil }
    }

    /// The number, if it is stored as an integer or a real.
    package var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        default: nil
        }
    }
}

extension SQLValue {
    /// True for the same storage class and the same bits: 0.0 is not -0.0, nor the integer 0.
    package static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let one), .integer(let other)): one == other
        case (.real(let one), .real(let other)): one.bitPattern == other.bitPattern
        case (.text(let one), .text(let other)): one == other
        case (.blob(let one), .blob(let other)): one == other
        case (.large(let one), .large(let other)): one == other
        default: false
        }
    }
}

/// The five ways in which SQLite stores a value, with SQLite's own numbers.
package enum StorageClass: Int32, Hashable, Sendable {
    case integer = 1
    case real = 2
    case text = 3
    case blob = 4
    case null = 5
}

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

extension SQLValue {
    /// Negative, 0 or positive, as SQLite orders two values with the collation `BINARY`.
    ///
    /// Null comes first, then numbers by their exact values, then texts, then blobs by their bytes.
    package func compared(to other: SQLValue) -> Int {
        switch (self, other) {
        case (.integer(let first), .integer(let second)): Self.order(first, second)
        case (.real(let first), .real(let second)): Self.order(first, second)
        case (.integer(let first), .real(let second)): Self.order(first, ofReal: second)
        case (.real(let first), .integer(let second)): -Self.order(second, ofReal: first)
        case (.text(let first), .text(let second)):
            first.withBytes { one, _ in second.withBytes { other, _ in Self.order(one, other) } }
        case (.blob(let first), .blob(let second)):
            first.withUnsafeBytes { one in second.withUnsafeBytes { other in Self.order(one, other) } }
        default: rank - other.rank
        }
    }

    private var rank: Int {
        switch self {
        case .null: StorageClass.null.rank
        case .integer, .real: StorageClass.real.rank
        case .text: StorageClass.text.rank
        case .blob: StorageClass.blob.rank
        case .large(let value): (value.isText ? StorageClass.text : .blob).rank
        }
    }

    private static func order<Number: Comparable>(_ first: Number, _ second: Number) -> Int {
        first < second ? -1 : first > second ? 1 : 0
    }

    /// Compares without rounding the integer.
    private static func order(_ integer: Int64, ofReal real: Double) -> Int {
        if real.isNaN || real < -0x1p63 { return 1 }
        if real >= 0x1p63 { return -1 }
        // In this range the integral part fits an Int64 exactly.
        let whole = Int64(real.rounded(.towardZero))
        if integer != whole { return integer < whole ? -1 : 1 }
        return order(0, real - real.rounded(.towardZero))
    }

    static func order(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int {
        let shared = min(first.count, second.count)
        if shared > 0, let one = first.baseAddress, let other = second.baseAddress {
            let order = memcmp(one, other, shared)
            if order != 0 { return Int(order) }
        }
        return first.count - second.count
    }
}

extension StorageClass {
    /// The rank of the value's class in SQLite's order; integers and reals are ordered by value.
    var rank: Int {
        switch self {
        case .null: 0
        case .integer, .real: 1
        case .text: 2
        case .blob: 3
        }
    }
}

extension StoreRow {
    /// Compares two values of rows as ``SQLValue/compared(to:)`` does, without copying their bytes.
    package func order(_ column: Int, against other: borrowing StoreRow, _ otherColumn: Int) -> Int {
        let (type, otherType) = (type(column), other.type(otherColumn))
        guard type == otherType, type == .text || type == .blob else {
            guard type.rank == otherType.rank else { return type.rank - otherType.rank }
            return value(column).compared(to: other.value(otherColumn))
        }
        return withBytes(column) { bytes in other.withBytes(otherColumn) { SQLValue.order(bytes, $0) } }
    }

    /// The same over several columns; with `byType`, equal numbers of different storage classes are ordered too.
    package func order(_ columns: [Int], against other: borrowing StoreRow, byType: Bool = false) -> Int {
        for column in columns {
            let order = order(column, against: other, column)
            if order != 0 { return order }
            guard byType else { continue }
            let (type, otherType) = (type(column), other.type(column))
            if type != otherType { return type == .integer ? -1 : 1 }
        }
        return 0
    }
}

/// A text as a key: texts with different bytes differ, even if they look alike.
struct ExactText: Hashable, Sendable {
    private let text: String

    init(_ text: String) { self.text = text }

    static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }

    func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}

extension String {
    /// True if both have the same bytes, as SQLite and the kernel compare texts.
    ///
    /// Swift's own `==` treats canonically equivalent texts as equal: it would merge two keys of a table, or two names
    /// in a folder.
    package func hasSameBytes(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let isEqual = utf8.withContiguousStorageIfAvailable { ours in
            other.utf8.withContiguousStorageIfAvailable { theirs in
                UnsafeRawBufferPointer(ours).startsEqual(to: UnsafeRawBufferPointer(theirs), count: ours.count)
            }
        }
        return isEqual.flatMap(\.self) ?? utf8.elementsEqual(other.utf8)
    }

    /// Hashes the bytes that ``hasSameBytes(as:)`` compares.
    package func hashBytes(into hasher: inout Hasher) {
        var text = self
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // No text ends in this byte, so it separates the text from the next hashed value.
        hasher.combine(UInt8.max)
    }
}
