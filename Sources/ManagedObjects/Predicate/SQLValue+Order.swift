internal import StoreFormat

extension SQLValue {
    /// How two values compare, as SQLite has it: null, then numbers by their exact values, then texts, then blobs by bytes.
    func compared(to other: SQLValue) -> Int {
        switch (self, other) {
        case (.integer(let first), .integer(let second)): first < second ? -1 : first > second ? 1 : 0
        case (.real(let first), .real(let second)): first < second ? -1 : first > second ? 1 : 0
        case (.integer(let first), .real(let second)): Self.compare(first, second)
        case (.real(let first), .integer(let second)): -Self.compare(second, first)
        case (.text(let first), .text(let second)): Self.compare(first.utf8, second.utf8)
        case (.blob(let first), .blob(let second)): Self.compare(first, second)
        default: rank - other.rank
        }
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .integer, .real: 1
        case .text: 2
        case .blob: 3
        }
    }

    /// Compares without rounding the integer.
    private static func compare(_ integer: Int64, _ real: Double) -> Int {
        if real.isNaN || real < -0x1p63 { return 1 }
        if real >= 0x1p63 { return -1 }
        // In this range the whole part is an Int64, exactly.
        let whole = Int64(real.rounded(.towardZero))
        if integer != whole { return integer < whole ? -1 : 1 }
        let fraction = real - real.rounded(.towardZero)
        return fraction > 0 ? -1 : fraction < 0 ? 1 : 0
    }

    private static func compare<Bytes: Sequence<UInt8>>(_ first: Bytes, _ second: Bytes) -> Int {
        if first.elementsEqual(second) { return 0 }
        return first.lexicographicallyPrecedes(second) ? -1 : 1
    }
}
