import StoreFormat

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
