import FoundationEssentials
public import StoreFormat

/// A value of a store in an encodable form.
public enum StoredValue: Hashable, Sendable, Codable {
    case null
    case integer(Int64)
    case real(Double)
    case text(SQLText)
    case bytes(StoredBytes)

    /// A large value is written down by what reads it in pieces; here is its size.
    package init(_ value: SQLValue) {
        switch value {
        case .large(let value): self = .text(SQLText("(\(value.byteCount) bytes)"))
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .real(let number): self = .real(number)
        case .text(let text): self = .text(text)
        case .blob(let bytes): self = .bytes(StoredBytes(bytes))
        }
    }

    package var sqlValue: SQLValue {
        switch self {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .text(let text): .text(text)
        case .bytes(let bytes): .blob(bytes.bytes)
        }
    }
}

extension StoredValue {
    public static func == (left: Self, right: Self) -> Bool { left.sqlValue == right.sqlValue }

    public func hash(into hasher: inout Hasher) { hasher.combine(sqlValue) }
}

/// The bytes of a blob, encoded in base64; a list of numbers is decoded as well.
public struct StoredBytes: Hashable, Sendable, Codable, ExpressibleByArrayLiteral {
    public let bytes: [UInt8]

    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    public init(arrayLiteral elements: UInt8...) { bytes = elements }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Data(bytes))
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let data = try? container.decode(Data.self) {
            bytes = [UInt8](data)
        } else {
            bytes = try container.decode([UInt8].self)
        }
    }
}
