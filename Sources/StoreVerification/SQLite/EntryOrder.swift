internal import Glibc

/// Compares each entry of an index with the one before it, by SQLite's rules for comparing records.
///
/// Source: "Datatypes In SQLite", sections 4.1 and 7, and "Database File Format", section 2.4.
struct EntryOrder {
    /// The order of an entry relative to its neighbour.
    enum Verdict {
        case inOrder
        /// In order, with the same key as the neighbour, apart from the row's number, and without a null.
        case sameKey
        case outOfOrder
    }

    /// A copy of a value of the neighbour.
    private struct Kept {
        var order: ColumnValue.Order = .null
        var isInteger = false
        var bits: UInt64 = 0
        var start = 0
        var count = 0
    }

    private let columns: [IndexShape.KeyColumn]
    private var kept: [Kept]
    private var bytes: [UInt8] = []
    private var keptRow: Int64 = 0
    private var isFirst = true

    init(_ shape: IndexShape) {
        columns = shape.columns
        kept = Array(repeating: Kept(), count: shape.columns.count)
    }

    /// Judges the next entry and keeps it as the neighbour of the one after it.
    @inline(__always)
    mutating func next(_ values: UnsafePointer<ColumnValue>, row: Int64) -> Verdict {
        var verdict = Verdict.inOrder
        if !isFirst { verdict = compare(values, row: row) }
        isFirst = false
        bytes.removeAll(keepingCapacity: true)
        for index in kept.indices {
            let value = values[index]
            kept[index] = Kept(
                order: value.order,
                isInteger: value.isInteger,
                bits: value.bits,
                start: bytes.count,
                count: value.bytes.count
            )
            if !value.bytes.isEmpty { bytes.append(contentsOf: value.bytes) }
        }
        keptRow = row
        return verdict
    }

    @inline(__always)
    private func compare(_ values: UnsafePointer<ColumnValue>, row: Int64) -> Verdict {
        var holdsNull = false
        for (index, column) in columns.enumerated() {
            let comparison = compare(kept[index], values[index], column.collation)
            if comparison != 0 {
                return (comparison < 0) != column.isDescending ? .inOrder : .outOfOrder
            }
            if kept[index].order == .null { holdsNull = true }
        }
        guard keptRow < row else { return .outOfOrder }
        return holdsNull ? .inOrder : .sameKey
    }

    @inline(__always)
    private func compare(_ left: Kept, _ right: ColumnValue, _ collation: IndexShape.Collation) -> Int {
        guard left.order == right.order else { return left.order.rawValue < right.order.rawValue ? -1 : 1 }
        switch left.order {
        case .null: return 0
        case .number:
            switch (left.isInteger, right.isInteger) {
            case (true, true): return Self.sign(Int64(bitPattern: left.bits), right.integer)
            case (false, false): return Self.sign(Double(bitPattern: left.bits), right.real)
            case (true, false): return Self.compare(Int64(bitPattern: left.bits), right.real)
            case (false, true): return -Self.compare(right.integer, Double(bitPattern: left.bits))
            }
        case .text, .blob:
            return bytes.withUnsafeBytes { all in
                let neighbour = UnsafeRawBufferPointer(rebasing: all[left.start..<left.start + left.count])
                return left.order == .blob
                    ? Self.compareBinary(neighbour, right.bytes)
                    : Self.compareText(neighbour, right.bytes, collation)
            }
        }
    }

    @inline(__always)
    private static func sign<T: Comparable>(_ left: T, _ right: T) -> Int {
        left < right ? -1 : (left > right ? 1 : 0)
    }

    /// Compares an integer with a real exactly, without a lossy conversion.
    private static func compare(_ integer: Int64, _ real: Double) -> Int {
        if real < -0x1p63 { return 1 }
        if real >= 0x1p63 { return -1 }
        guard let whole = Int64(exactly: real.rounded(.towardZero)) else { return 1 }
        if integer != whole { return integer < whole ? -1 : 1 }
        return sign(0, real - real.rounded(.towardZero))
    }

    @inline(__always)
    private static func compareBinary(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        let shorter = min(left.count, right.count)
        if shorter > 0, let first = left.baseAddress, let second = right.baseAddress {
            let comparison = memcmp(first, second, shorter)
            if comparison != 0 { return Int(comparison) }
        }
        return left.count - right.count
    }

    private static func compareText(
        _ left: UnsafeRawBufferPointer,
        _ right: UnsafeRawBufferPointer,
        _ collation: IndexShape.Collation
    ) -> Int {
        switch collation {
        case .binary: return compareBinary(left, right)
        case .rightTrim: return compareBinary(trimmed(left), trimmed(right))
        case .noCase:
            for (first, second) in zip(left, right) {
                let (first, second) = (folded(first), folded(second))
                // SQLite's NOCASE ends at a zero byte in both, as C strings do.
                if first != second { return Int(first) - Int(second) }
                if first == 0 { break }
            }
            return left.count - right.count
        }
    }

    private static func trimmed(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var count = bytes.count
        while count > 0, bytes[count - 1] == UInt8(ascii: " ") { count -= 1 }
        return UnsafeRawBufferPointer(rebasing: bytes[..<count])
    }

    @inline(__always)
    private static func folded(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }
}
