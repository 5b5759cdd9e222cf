import StoreFormat

extension StoreRow {
    /// Tells which of two values SQLite puts first where texts are compared by their bytes: -1, 0 or 1.
    ///
    /// A whole number and the real of its value are equal.
    func order(_ column: Int, against other: borrowing StoreRow, _ otherColumn: Int) -> Int {
        let (type, otherType) = (type(column), other.type(otherColumn))
        let (rank, otherRank) = (Self.rank(type), Self.rank(otherType))
        guard rank == otherRank else { return rank < otherRank ? -1 : 1 }
        switch (type, otherType) {
        case (.integer, .integer): return Self.order(integer(column), other.integer(otherColumn))
        case (.real, .real): return Self.order(real(column), other.real(otherColumn))
        case (.integer, .real): return Self.order(integer(column), other.real(otherColumn))
        case (.real, .integer): return -Self.order(other.integer(otherColumn), real(column))
        case (.null, _): return 0
        default:
            return withBytes(column) { bytes in
                other.withBytes(otherColumn) { otherBytes in
                    bytes.lexicographicallyPrecedes(otherBytes) ? -1 : bytes.elementsEqual(otherBytes) ? 0 : 1
                }
            }
        }
    }

    /// The same over several columns; where `byType` is set, equal numbers of different storage classes are put in order too.
    func order(_ columns: [Int], against other: borrowing StoreRow, byType: Bool = false) -> Int {
        for column in columns {
            let order = order(column, against: other, column)
            if order != 0 { return order }
            guard byType else { continue }
            let (type, otherType) = (type(column), other.type(column))
            if type != otherType { return type == .integer ? -1 : 1 }
        }
        return 0
    }

    private static func rank(_ type: StorageClass) -> Int {
        switch type {
        case .null: 0
        case .integer, .real: 1
        case .text: 2
        case .blob: 3
        }
    }

    private static func order<Number: Comparable>(_ first: Number, _ second: Number) -> Int {
        first < second ? -1 : first > second ? 1 : 0
    }

    private static func order(_ whole: Int64, _ real: Double) -> Int {
        if real >= 0x1p63 { return -1 }
        if real < -0x1p63 { return 1 }
        let truncated = Int64(real)
        if whole != truncated { return whole < truncated ? -1 : 1 }
        return order(0, real - Double(truncated))
    }
}
