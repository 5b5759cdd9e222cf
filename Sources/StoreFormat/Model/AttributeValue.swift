public import FoundationEssentials

/// The typed value of an attribute.
///
/// Two values are equal when they are of one kind and equal in it: an integer never equals a real. A value that was
/// decoded or converted is of the kind that its attribute's type calls for, so such values compare as they should.
public enum AttributeValue: Hashable, Sendable {
    /// No value: `nil` in an app.
    case null
    case boolean(Bool)
    /// An integer of 16, 32 or 64 bits.
    case integer(Int64)
    /// A double, or a float widened to one.
    case real(Double)
    /// A decimal number; a store keeps no more of it than a double holds.
    case decimal(Decimal)
    case string(String)
    case date(Date)
    /// Bytes, or the archive that a value transformer made of something.
    case data(Data)
    case uuid(UUID)
    /// The text of a URI, exactly as it is stored.
    case uri(String)
    /// Bytes that lie in a file of their own; whoever needs them reads that file.
    case externalData(ExternalDataReference)

    /// The file that holds a large binary value, beside the store.
    public struct ExternalDataReference: Hashable, Sendable {
        /// The file's name in the folder of external files: a UUID in upper case.
        public let fileName: String

        public init(fileName: String) {
            self.fileName = fileName
        }
    }

    public var isNull: Bool { self == .null }
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
