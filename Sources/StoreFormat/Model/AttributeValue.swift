public import FoundationEssentials
package import StoreAccess

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

extension AttributeValue {
    /// Marks where the bytes of an attribute with external storage are; it precedes them, or the file's name.
    private enum ExternalStorageMark {
        static let inline: UInt8 = 1
        static let file: UInt8 = 2
    }

    /// Decodes the stored value of an attribute; nil if the attribute's type does not permit it.
    package init?(_ stored: SQLValue, of attribute: AttributeDescription) {
        guard attribute.allowsExternalBinaryDataStorage, case .blob(let bytes) = stored else {
            self.init(stored, as: attribute.type)
            return
        }
        switch bytes.first {
        case ExternalStorageMark.inline:
            self = .data(Data(bytes.dropFirst()))
        case ExternalStorageMark.file:
            let name = bytes.dropFirst().prefix { $0 != 0 }
            guard bytes.count == 38, name.count == 36, let text = String(validating: name, as: UTF8.self),
                UUID(uuidString: text) != nil
            else { return nil }
            self = .externalData(ExternalDataReference(fileName: text))
        default: return nil
        }
    }

    /// Decodes a value of a type, for an attribute without external storage.
    package init?(_ stored: SQLValue, as type: AttributeDescription.AttributeType) {
        if case .null = stored {
            self = .null
            return
        }
        let value: AttributeValue? =
            switch type {
            case .integer16, .integer32, .integer64: Self.integer(stored).map(AttributeValue.integer)
            case .boolean: Self.integer(stored).map { .boolean($0 != 0) }
            case .double, .float: stored.number.map(AttributeValue.real)
            case .date: stored.number.map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
            case .decimal: Self.decimal(stored).map(AttributeValue.decimal)
            case .string: stored.text.map(AttributeValue.string)
            case .uri: stored.text.map(AttributeValue.uri)
            case .uuid: stored.blob.flatMap(Self.uuid).map(AttributeValue.uuid)
            case .binaryData, .transformable: stored.blob.map { .data(Data($0)) }
            case .undefined, .objectID, .composite: Self.untyped(stored)
            }
        guard let value else { return nil }
        self = value
    }

    /// The stored form of this value; nil if the attribute's type does not accept it.
    package func stored(for attribute: AttributeDescription) -> SQLValue? {
        guard let value = converted(to: attribute.type) else { return nil }
        guard attribute.allowsExternalBinaryDataStorage else { return value.plainlyStored }
        return switch value {
        case .data(let data): .blob([ExternalStorageMark.inline] + data)
        case .externalData(let reference): .blob([ExternalStorageMark.file] + reference.fileName.utf8 + [0])
        default: value.plainlyStored
        }
    }

    /// The value in the stored form of its kind, without the mark of external storage; nil for a reference to a file.
    package var plainlyStored: SQLValue? {
        switch self {
        case .null: .null
        case .boolean(let value): .integer(value ? 1 : 0)
        case .integer(let value): .integer(value)
        // SQLite has no NaN: it would silently store NULL.
        case .real(let value): value.isNaN ? .null : .real(value)
        case .decimal(let value): Self.stored(value)
        case .string(let value), .uri(let value): .text(value)
        case .date(let value): .real(value.timeIntervalSinceReferenceDate)
        case .data(let value): .blob([UInt8](value))
        case .uuid(let value): .blob(withUnsafeBytes(of: value.uuid) { [UInt8]($0) })
        case .externalData: nil
        }
    }

    // MARK: Kinds

    private static func integer(_ stored: SQLValue) -> Int64? {
        switch stored {
        case .integer(let value): value
        case .real(let value): Int64(exactly: value)
        default: nil
        }
    }

    private static func untyped(_ stored: SQLValue) -> AttributeValue {
        switch stored {
        case .null: .null
        case .integer(let value): .integer(value)
        case .real(let value): .real(value)
        case .text(let value): .string(value.string)
        case .blob(let value): .data(Data(value))
        // Only a merge reads by reference, and it decodes no values.
        case .large: .null
        }
    }

    private static func uuid(_ bytes: [UInt8]) -> UUID? {
        guard bytes.count == 16 else { return nil }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    private static func decimal(_ stored: SQLValue) -> Decimal? {
        switch stored {
        case .integer(let value): Decimal(value)
        case .real(let value): decimal(value)
        case .text("NaN"): Decimal.nan
        default: nil
        }
    }

    /// The decimal with the fewest digits that is stored as this double; nil if there is none.
    static func decimal(_ value: Double) -> Decimal? {
        guard value.isFinite, let decimal = Decimal(string: "\(value)"), !decimal.isNaN else { return nil }
        return decimal
    }

    private static func stored(_ decimal: Decimal) -> SQLValue {
        if decimal.isNaN { return .text("NaN") }
        let digits = decimal.description
        if let integer = Int64(digits) { return .integer(integer) }
        return Double(digits).map(SQLValue.real) ?? .text("NaN")
    }
}

extension AttributeValue {
    /// The value converted to an attribute's type; nil if the type does not accept it.
    ///
    /// Numbers are converted as by `NSNumber`, as long as nothing is lost: an integer to a real, a decimal or (0 and 1)
    /// a boolean, a whole real to an integer in range. Texts are never converted to numbers.
    public func converted(to type: AttributeDescription.AttributeType) -> AttributeValue? {
        switch (self, type) {
        case (.null, _), (_, .undefined), (_, .objectID), (_, .composite): self
        case (_, .integer16): integer(in: Int64(Int16.min)...Int64(Int16.max))
        case (_, .integer32): integer(in: Int64(Int32.min)...Int64(Int32.max))
        case (_, .integer64): integer(in: Int64.min...Int64.max)
        case (_, .boolean): integer(in: 0...1).map { .boolean($0 == .integer(1)) }
        case (_, .double): number.map(AttributeValue.real)
        case (_, .float): number.map { .real(Double(Float($0))) }
        case (_, .decimal): asDecimal.map(AttributeValue.decimal)
        case (.string, .string), (.date, .date), (.data, .binaryData), (.data, .transformable), (.uuid, .uuid),
            (.uri, .uri), (.externalData, .binaryData), (.externalData, .transformable):
            self
        case (.string(let text), .uri): .uri(text)
        default: nil
        }
    }

    /// The value as a number, to the precision of a double; a boolean counts as 0 or 1.
    package var number: Double? {
        switch self {
        case .boolean(let value): value ? 1 : 0
        case .integer(let value): Double(value)
        case .real(let value): value
        case .decimal(let value): value.isNaN ? .nan : Double(value.description)
        default: nil
        }
    }

    private func integer(in range: ClosedRange<Int64>) -> AttributeValue? {
        let value: Int64? =
            switch self {
            case .boolean(let value): value ? 1 : 0
            case .integer(let value): value
            case .real(let value): Int64(exactly: value)
            case .decimal(let value): Int64(value.description)
            default: nil
            }
        guard let value, range.contains(value) else { return nil }
        return .integer(value)
    }

    private var asDecimal: Decimal? {
        switch self {
        case .boolean(let value): value ? 1 : 0
        case .integer(let value): Decimal(value)
        case .real(let value): value.isNaN ? .nan : Self.decimal(value)
        case .decimal(let value): value
        default: nil
        }
    }
}

/// Decodes one attribute from the row of an object.
package final class AttributeDecoder: Sendable {
    private let attribute: AttributeDescription
    private let type: AttributeDescription.AttributeType
    /// True if the column contains only the value, without a mark of external storage.
    private let isPlain: Bool

    package init(_ attribute: AttributeDescription) {
        self.attribute = attribute
        type = attribute.type
        isPlain = !attribute.allowsExternalBinaryDataStorage
    }

    /// The value in a field; a value of another type, which genuine stores contain, is returned as stored.
    package func value(_ row: PackedRow, _ field: Int) -> AttributeValue {
        switch (row.type(field), type) {
        case (.null, _): return .null
        case (.integer, .integer16), (.integer, .integer32), (.integer, .integer64):
            return .integer(row.integer(field))
        case (.integer, .boolean): return .boolean(row.integer(field) != 0)
        case (.real, .double), (.real, .float), (.integer, .double), (.integer, .float):
            return .real(row.real(field))
        case (.real, .date), (.integer, .date):
            return .date(Date(timeIntervalSinceReferenceDate: row.real(field)))
        case (.text, .string): return row.text(field).map(AttributeValue.string) ?? .null
        case (.blob, .binaryData) where isPlain, (.blob, .transformable) where isPlain:
            return .data(row.withBytes(field) { Data($0) })
        default: break
        }
        let stored = row.value(field)
        return AttributeValue(stored, of: attribute) ?? AttributeValue(stored, as: .undefined) ?? .null
    }
}

/// The reason why bytes of a store cannot be decoded.
///
/// Decoders do not know the file of the bytes; their caller adds it.
package struct UndecodableData: Error, Hashable, Sendable, CustomStringConvertible {
    /// A lower-case fragment that never contains the bytes.
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
