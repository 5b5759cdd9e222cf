import StoreAccess
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

/// Converts the value of an attribute to its column's form, and rejects values of another type.
///
/// Dates are seconds since 2001, UUIDs sixteen bytes, Booleans 0 or 1 (COREDATA §1.4).
enum AttributeEncoding {
    /// Throws ``StoreError`` with the code `incompatible`; the message names the attribute, never the value.
    static func column(
        _ value: SQLValue,
        for attribute: AttributeDescription,
        of entity: String,
        external: ExternalDataWriter?
    ) throws -> SQLValue {
        // A column that the model does not know is copied unchanged.
        if attribute.type == .undefined { return value }
        // SQLite has no NaN and would silently store NULL.
        let value = value.number?.isNaN == true ? SQLValue.null : value
        switch (attribute.type, value) {
        case (_, .null):
            guard attribute.isOptional else {
                throw StoreError(.incompatible, path: "", "\(entity).\(attribute.name) must have a value")
            }
            return .null
        case (.boolean, .integer(0...1)), (.integer64, .integer), (.string, .text), (.uri, .text): return value
        case (.integer16, .integer(let number)) where Int16(exactly: number) != nil: return value
        case (.integer32, .integer(let number)) where Int32(exactly: number) != nil: return value
        case (.double, .real), (.float, .real), (.date, .real), (.decimal, .real), (.decimal, .integer): return value
        case (.double, .integer(let number)), (.float, .integer(let number)), (.date, .integer(let number)):
            return .real(Double(number))
        // No number represents `NSDecimalNumber.notANumber`.
        case (.decimal, .text("NaN")): return value
        case (.uuid, .blob(let bytes)) where bytes.count == 16: return value
        case (.binaryData, .blob(let bytes)), (.transformable, .blob(let bytes)):
            guard attribute.allowsExternalBinaryDataStorage else { return value }
            if let external { return .blob(try external.stored(bytes)) }
            guard bytes.count <= ExternalDataWriter.threshold else {
                throw StoreError(
                    .failed,
                    path: "",
                    "\(entity).\(attribute.name) needs a folder for external binary data"
                )
            }
            return .blob([1] + bytes)
        case (.string, .large(let large)) where large.isText, (.uri, .large(let large)) where large.isText: return value
        case (.binaryData, .large(let large)) where !large.isText,
            (.transformable, .large(let large)) where !large.isText:
            guard attribute.allowsExternalBinaryDataStorage, let external else { return value }
            return .blob(try external.stored(large))
        default:
            throw StoreError(.incompatible, path: "", "the value does not fit the type of \(entity).\(attribute.name)")
        }
    }
}
