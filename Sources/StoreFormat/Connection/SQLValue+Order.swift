internal import Glibc

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
