/// One value as SQLite stores it, with its storage class.
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
