public import FoundationEssentials

/// The typed value of an attribute.
///
/// Two values are equal if they have the same kind and value: an integer never equals a real. A decoded or converted
/// value has the kind of its attribute's type, so such values compare correctly. Texts are equal if their bytes are:
/// another Unicode normalization is a change.
public enum AttributeValue: Hashable, Sendable {
    /// No value: `nil` in an app.
    case null
    case boolean(Bool)
    /// An integer of 16, 32 or 64 bits.
    case integer(Int64)
    /// A double, or a float widened to one.
    case real(Double)
    /// A decimal number; a store keeps it only to the precision of a double.
    case decimal(Decimal)
    case string(String)
    case date(Date)
    /// Bytes, or the archive that a value transformer produced.
    case data(Data)
    case uuid(UUID)
    /// The text of a URI, exactly as stored.
    case uri(String)
    /// Bytes in an external file, which the caller must read.
    case externalData(ExternalDataReference)

    /// The external file of a large binary value.
    public struct ExternalDataReference: Hashable, Sendable {
        /// The file's name in the folder of external files: a UUID in upper case.
        public let fileName: String

        public init(fileName: String) {
            self.fileName = fileName
        }
    }

    public var isNull: Bool { self == .null }
}

extension AttributeValue {
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.boolean(let one), .boolean(let other)): one == other
        case (.integer(let one), .integer(let other)): one == other
        case (.real(let one), .real(let other)): one == other
        case (.decimal(let one), .decimal(let other)): one == other
        case (.string(let one), .string(let other)): one.hasSameBytes(as: other)
        case (.date(let one), .date(let other)): one == other
        case (.data(let one), .data(let other)): one == other
        case (.uuid(let one), .uuid(let other)): one == other
        case (.uri(let one), .uri(let other)): one.hasSameBytes(as: other)
        case (.externalData(let one), .externalData(let other)): one == other
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        func combine(_ kind: Int, _ value: some Hashable) {
            hasher.combine(kind)
            hasher.combine(value)
        }
        switch self {
        case .null: hasher.combine(0)
        case .boolean(let value): combine(1, value)
        case .integer(let value): combine(2, value)
        case .real(let value): combine(3, value)
        case .decimal(let value): combine(4, value)
        case .string(let text):
            hasher.combine(5)
            text.hashBytes(into: &hasher)
        case .date(let value): combine(6, value)
        case .data(let value): combine(7, value)
        case .uuid(let value): combine(8, value)
        case .uri(let text):
            hasher.combine(9)
            text.hashBytes(into: &hasher)
        case .externalData(let value): combine(10, value)
        }
    }
}

extension AttributeValue: CustomStringConvertible {
    /// The value as a person reads it: of bytes only their number, of no value `nil`.
    public var description: String {
        switch self {
        case .null: "nil"
        case .boolean(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .real(let value): "\(value)"
        case .decimal(let value): "\(value)"
        case .string(let value), .uri(let value): value
        case .date(let value): Self.text(value)
        case .data(let value): "\(value.count) bytes"
        case .uuid(let value): value.uuidString
        case .externalData(let reference): "external file \(reference.fileName)"
        }
    }

    /// The date in the years 1 to 9999; outside of its calendar Foundation traps.
    private static func text(_ date: Date) -> String {
        let seconds = date.timeIntervalSinceReferenceDate
        guard (-63_113_904_000..<252_423_993_600).contains(seconds) else { return "\(seconds) seconds from 2001" }
        return "\(date)"
    }
}

extension AttributeValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral
{
    public init(nilLiteral: ()) { self = .null }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .real(value) }
    public init(stringLiteral value: String) { self = .string(value) }
}
