import StoreFormat

/// Encodes the values of one attribute for its column, with a fast path for the most common types.
final class AttributeEncoder: Sendable {
    private let attribute: AttributeDescription
    private let type: AttributeDescription.AttributeType
    private let entity: String
    private let mayBeNull: Bool

    init(_ attribute: AttributeDescription, of entity: String) {
        self.attribute = attribute
        type = attribute.type
        self.entity = entity
        mayBeNull = attribute.isOptional
    }

    /// Throws ``StoreError`` with the code `incompatible` if the value does not fit the attribute.
    func column(_ value: AttributeValue, external: ExternalDataWriter?) throws -> SQLValue {
        switch (value, type) {
        case (.null, _) where mayBeNull: return .null
        case (.string(let text), .string): return .text(text)
        case (.integer(let number), .integer64): return .integer(number)
        case (.boolean(let flag), .boolean): return .integer(flag ? 1 : 0)
        default: break
        }
        // Large values are passed as bytes: the writer decides which of them go to files.
        guard let stored = value.converted(to: type)?.plainlyStored else {
            throw StoreError(
                .incompatible,
                path: "",
                "the value does not fit the type of \(entity).\(attribute.name)"
            )
        }
        return try AttributeEncoding.column(stored, for: attribute, of: entity, external: external)
    }
}
