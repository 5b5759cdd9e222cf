import FoundationEssentials
import ManagedObjects
import StoreFormat

extension FetchedObject {
    /// The object as an object.
    var record: JSONValue {
        .object([
            ("type", .string("object")), ("entity", .string(objectID.entityName)),
            ("uri", .string(objectID.uriRepresentation())),
            ("values", .object(properties.map { ($0.name, $0.value.record) })),
        ])
    }
}

extension PredicateConstant {
    /// A value as JSON; a date as ISO 8601, bytes in base 64, an object as its URI.
    var record: JSONValue {
        switch self {
        case .object(let id): .string(id.uriRepresentation())
        case .collection(let values): .array(values.map(\.record))
        case .value(let value): value.record
        }
    }
}

extension AttributeValue {
    fileprivate var record: JSONValue {
        switch self {
        case .null: .null
        case .boolean(let value): .bool(value)
        case .integer(let value): .integer(value)
        case .real(let value): .real(value)
        case .decimal(let value): value.isNaN ? .string("NaN") : .number(value.description)
        case .string(let value), .uri(let value): .string(value)
        case .date(let value): DateText.text(value).map(JSONValue.string) ?? .real(value.timeIntervalSinceReferenceDate)
        case .data(let value): .string(value.base64EncodedString())
        case .uuid(let value): .string(value.uuidString)
        case .externalData(let reference): .object([("externalFile", .string(reference.fileName))])
        }
    }
}
