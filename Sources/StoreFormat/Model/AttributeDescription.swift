internal import FoundationEssentials
package import StoreAccess

/// One attribute of an entity.
public struct AttributeDescription: Hashable, Sendable {
    /// The types of attributes, with the numbers that a model archive uses.
    public enum AttributeType: Int, Sendable, CaseIterable {
        case undefined = 0
        case integer16 = 100
        case integer32 = 200
        case integer64 = 300
        case decimal = 400
        case double = 500
        case float = 600
        case string = 700
        case boolean = 800
        case date = 900
        case binaryData = 1000
        case uuid = 1100
        case uri = 1200
        case transformable = 1800
        case objectID = 2000
        case composite = 2100
    }

    public let name: String
    public let type: AttributeType
    public let isOptional: Bool
    /// True for an attribute without a column.
    public let isTransient: Bool
    public let isDerived: Bool
    /// The expression of a derived attribute, as a model editor writes it: `pages.@count`, `owner.name`.
    public let derivationExpression: String?
    public let allowsExternalBinaryDataStorage: Bool
    /// True if history preserves the value of a deleted object.
    public let preservesValueInHistoryOnDeletion: Bool
    public let valueTransformerName: String?
    /// The default value, if it is a number, a text, a date or data.
    public let defaultValue: PropertyListValue?
    /// The name that identifies this attribute across versions of the model; nil if it was never renamed.
    public let renamingIdentifier: String?
    /// A text that only distinguishes the version hash from that of an equal attribute in another version.
    public let versionHashModifier: String?

    public init(
        name: String,
        type: AttributeType,
        isOptional: Bool = true,
        isTransient: Bool = false,
        isDerived: Bool = false,
        allowsExternalBinaryDataStorage: Bool = false,
        preservesValueInHistoryOnDeletion: Bool = false,
        valueTransformerName: String? = nil,
        defaultValue: PropertyListValue? = nil,
        derivationExpression: String? = nil,
        renamingIdentifier: String? = nil,
        versionHashModifier: String? = nil
    ) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.isTransient = isTransient
        self.isDerived = isDerived
        self.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
        self.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
        self.valueTransformerName = valueTransformerName
        self.defaultValue = defaultValue
        self.derivationExpression = derivationExpression
        self.renamingIdentifier = renamingIdentifier
        self.versionHashModifier = versionHashModifier
    }

    /// The name that identifies the attribute in every version of the model.
    package var canonicalName: String { renamingIdentifier ?? name }
}

extension AttributeDescription {
    /// True for a stored value that an object may have: of the attribute's type and range, and not null where it is mandatory.
    package func permits(_ stored: SQLValue) -> Bool {
        guard AttributeValue(stored, of: self) != nil else { return false }
        return switch (type, stored) {
        case (_, .null): isOptional
        case (.integer16, .integer(let number)): Int16(exactly: number) != nil
        case (.integer32, .integer(let number)): Int32(exactly: number) != nil
        case (.boolean, .integer(let number)): number == 0 || number == 1
        default: true
        }
    }

    /// The value of a new object: the model's default, in the attribute's type.
    package var initialValue: AttributeValue {
        let value: AttributeValue? =
            switch defaultValue {
            case .string(let text): .string(text)
            case .integer(let number): .integer(number)
            case .real(let number): .real(number)
            case .boolean(let flag): .boolean(flag)
            case .data(let bytes): type == .uuid ? UUID(bytes: bytes).map(AttributeValue.uuid) : .data(Data(bytes))
            case .date(let seconds): .date(Date(timeIntervalSinceReferenceDate: seconds))
            default: nil
            }
        return value?.converted(to: type) ?? .null
    }
}

extension UUID {
    fileprivate init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
