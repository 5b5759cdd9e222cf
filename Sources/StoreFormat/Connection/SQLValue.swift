/// One value as SQLite stores it, with its storage class.
///
/// Texts are equal when their bytes are, as in SQLite's own comparison.
package enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    /// The integer, when it is stored as one.
    package var integer: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// The text, when it is stored as text.
    package var text: String? {
        if case .text(let value) = self { value } else { nil }
    }

    /// The bytes, when they are stored as a blob.
    package var blob: [UInt8]? {
        if case .blob(let value) = self { value } else { nil }
    }

    /// The number, when it is stored as an integer or a real.
    package var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        default: nil
        }
    }
}

extension SQLValue {
    package static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let one), .integer(let other)): one == other
        case (.real(let one), .real(let other)): one == other
        case (.text(let one), .text(let other)): one.hasSameBytes(as: other)
        case (.blob(let one), .blob(let other)): one == other
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .integer(let number):
            hasher.combine(1)
            hasher.combine(number)
        case .real(let number):
            hasher.combine(2)
            hasher.combine(number)
        case .text(let text):
            hasher.combine(3)
            text.hashBytes(into: &hasher)
        case .blob(let bytes):
            hasher.combine(4)
            hasher.combine(bytes)
        }
    }
}
