import FoundationEssentials
import ManagedObjects
import StoreAccess
import StoreFormat

extension StoreInspection {
    /// The store as an object.
    var record: JSONValue {
        .object([
            ("type", .string("store")), ("path", .string(location.path)), ("kind", .string(kind.rawValue)),
            ("uuid", .optional(uuid)), ("journalMode", .string(header.journalMode.rawValue)),
            ("frameworkVersion", .optional(metadata?.frameworkVersion)),
            ("pageSize", .integer(Int64(header.pageSize))),
            ("files", .array(files.map(\.record))),
            ("entities", .array(entities.map(\.record))),
            ("joinTables", .array(joinTables.map(\.record))),
            ("tables", .array(tables.map(\.record))),
            ("history", history?.record ?? .null),
            ("model", modelRecord),
            ("metadataKeys", .strings((metadata?.values.keys).map { $0.sorted() } ?? [])),
            ("fence", fence?.record ?? .null),
            ("digest", .optional(digest?.value)),
        ])
    }

    private var modelRecord: JSONValue {
        guard let model, let modelSource else { return .null }
        return .object([
            ("source", .string(modelSource.rawValue)), ("entities", .integer(Int64(model.entitiesByName.count))),
            ("versionIdentifiers", .strings(model.versionIdentifiers)),
        ])
    }
}

extension StoreFile {
    var record: JSONValue {
        .object([("role", .string(role.rawValue)), ("name", .string(name)), ("bytes", .integer(bytes))])
    }
}

extension StoreInspection.EntityCount {
    var record: JSONValue {
        .object([
            ("name", .string(name)), ("id", .integer(id)), ("parent", .optional(parent)),
            ("objects", .integer(objects)),
        ])
    }
}

extension StoreInspection.TableCount {
    var record: JSONValue { .object([("name", .string(name)), ("rows", .integer(rows))]) }
}

extension StoreFence {
    var record: JSONValue {
        .object([("tx", .string(transaction)), ("new", .string(newPath)), ("triggers", .integer(Int64(triggerCount)))])
    }
}

extension EntityDescription {
    /// The entity as an object, without inherited properties.
    var record: JSONValue {
        .object([
            ("type", .string("entityDescription")), ("name", .string(name)), ("parent", .optional(superentity)),
            ("abstract", .bool(isAbstract)), ("attributes", .array(attributes.map(\.record))),
            ("relationships", .array(relationships.map(\.record))),
            ("unique", .array(uniquenessConstraints.map(JSONValue.strings))),
            ("indexes", .array(fetchIndexes.map(\.record))),
        ])
    }
}

extension AttributeDescription {
    var record: JSONValue {
        .object([
            ("name", .string(name)), ("attributeType", .string(type.word)), ("optional", .bool(isOptional)),
            ("transient", .bool(isTransient)), ("derived", .bool(isDerived)),
            ("externalStorage", .bool(allowsExternalBinaryDataStorage)),
        ])
    }
}

extension RelationshipDescription {
    var record: JSONValue {
        .object([
            ("name", .string(name)), ("destination", .string(destination)), ("inverse", .optional(inverse)),
            ("min", .integer(Int64(minCount))), ("max", .integer(Int64(maxCount))), ("ordered", .bool(isOrdered)),
            ("optional", .bool(isOptional)), ("deleteRule", .string("\(deleteRule)")),
        ])
    }
}

extension FetchIndexDescription {
    var record: JSONValue {
        .object([("name", .string(name)), ("properties", .strings(properties)), ("partial", .bool(isPartial))])
    }
}

extension AttributeDescription.AttributeType {
    /// The type's name, as in recipes.
    var word: String { "\(self)" }
}

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
