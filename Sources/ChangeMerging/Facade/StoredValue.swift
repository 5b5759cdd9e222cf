package import StoreFormat

/// A value as a store holds it, in a form that can be written down; texts are equal when their bytes are.
public enum StoredValue: Hashable, Sendable, Codable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case bytes([UInt8])

    package init(_ value: SQLValue) {
        switch value {
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .real(let number): self = .real(number)
        case .text(let text): self = .text(text)
        case .blob(let bytes): self = .bytes(bytes)
        }
    }

    package var sqlValue: SQLValue {
        switch self {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .text(let text): .text(text)
        case .bytes(let bytes): .blob(bytes)
        }
    }
}

extension StoredValue {
    public static func == (left: Self, right: Self) -> Bool { left.sqlValue == right.sqlValue }

    public func hash(into hasher: inout Hasher) { hasher.combine(sqlValue) }
}
