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
