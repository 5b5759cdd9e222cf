internal import FoundationEssentials

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
