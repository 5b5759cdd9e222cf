/// Decodes the archived objects of a managed object model.
struct ModelDecoder {
    /// The maximum number of entities, and of properties of one entity; genuine models stay below a hundred of each.
    private static let limit = 4096
    /// The maximum number of ancestors of an entity; genuine ones have a handful, and the work grows with the square.
    private static let ancestorLimit = 128

    let reader: KeyedArchiveReader

    /// Decodes the entities of a model, in byte order of their names.
    func entities(_ archived: [String: PropertyListValue]) throws -> [EntityDescription] {
        guard archived.count <= Self.limit else { throw UndecodableData("the model has too many entities") }
        let objects = archived.compactMapValues(reader.object)
        guard objects.count == archived.count else {
            throw UndecodableData("an entity of the managed object model cannot be decoded")
        }
        let parents = objects.compactMapValues { name($0.fields["NSSuperentity"], key: "NSEntityName") }
        let properties = objects.mapValues { reader.dictionary($0.fields["NSProperties"]) ?? [:] }
        guard properties.allSatisfy({ $0.value.count <= Self.limit }) else {
            throw UndecodableData("an entity of the model has too many properties")
        }
        return try objects.sorted { ManagedObjectModel.inByteOrder($0.key, $1.key) }
            .map { name, object in
                // The archive repeats inherited properties in every entity.
                let inherited = try ancestors(of: name, parents: parents)
                    .reduce(into: Set<String>()) { $0.formUnion(properties[$1]?.keys.map(\.self) ?? []) }
                return try entity(
                    name,
                    object,
                    parent: parents[name],
                    properties: (properties[name] ?? [:]).filter { !inherited.contains($0.key) }
                )
            }
    }

    private func ancestors(of name: String, parents: [String: String]) throws -> [String] {
        var result: [String] = []
        var next = parents[name]
        while let name = next, !result.contains(name) {
            guard result.count < Self.ancestorLimit else {
                throw UndecodableData("an entity of the model has too many ancestors")
            }
            result.append(name)
            next = parents[name]
        }
        return result
    }

    private func entity(
        _ name: String,
        _ object: KeyedArchiveReader.Object,
        parent: String?,
        properties: [String: PropertyListValue]
    ) throws -> EntityDescription {
        var attributes: [AttributeDescription] = []
        var relationships: [RelationshipDescription] = []
        for (name, value) in properties.sorted(by: { ManagedObjectModel.inByteOrder($0.key, $1.key) }) {
            guard let property = reader.property(value) else {
                throw UndecodableData("a property of the managed object model cannot be decoded")
            }
            switch property.className {
            case "NSRelationshipDescription": relationships.append(try relationship(name, property))
            case "NSFetchedPropertyDescription", "NSExpressionDescription": break
            default: attributes.append(attribute(name, property))
            }
        }
        return EntityDescription(
            name: name,
            superentity: parent,
            isAbstract: reader.flag(object.fields["NSIsAbstract"]),
            attributes: attributes,
            relationships: relationships,
            uniquenessConstraints: uniquenessConstraints(object),
            fetchIndexes: fetchIndexes(object),
            legacyTombstoneAttributes: legacyTombstoneAttributes(object),
            renamingIdentifier: renamingIdentifier(object, of: name),
            versionHashModifier: reader.string(object.fields["NSVersionHashModifier"])
        )
    }

    // MARK: Properties

    private func attribute(_ name: String, _ object: KeyedArchiveReader.Object) -> AttributeDescription {
        let flags = reader.integer(object.fields["NSFlagsKey"]) ?? 0
        return AttributeDescription(
            name: name,
            type: integer(object, "NSAttributeType").flatMap(AttributeDescription.AttributeType.init) ?? .undefined,
            isOptional: reader.flag(object.fields["NSIsOptional"]),
            isTransient: reader.flag(object.fields["NSIsTransient"]),
            isDerived: object.className == "NSDerivedAttributeDescription",
            allowsExternalBinaryDataStorage: flags & 4 != 0,
            preservesValueInHistoryOnDeletion: flags & 16 != 0,
            valueTransformerName: reader.string(object.fields["NSValueTransformerName"]),
            defaultValue: defaultValue(object.fields["NSDefaultValue"]),
            derivationExpression: reader.object(object.fields["NSDerivationExpression"]).flatMap { expression($0) },
            renamingIdentifier: renamingIdentifier(object, of: name),
            versionHashModifier: reader.string(object.fields["NSVersionHashModifier"])
        )
    }

    private func defaultValue(_ value: PropertyListValue?) -> PropertyListValue? {
        switch reader.resolve(value) {
        case .dictionary(let fields):
            if case .real(let seconds)? = fields["NS.time"] { return .date(seconds) }
            if case .data(let bytes)? = fields["NS.data"] { return .data(bytes) }
            if case .data(let bytes)? = fields["NS.uuidbytes"] { return .data(bytes) }
            return reader.string(value).map(PropertyListValue.string)
        case .array, .uid, nil: return nil
        case let plain: return plain
        }
    }

    private func relationship(
        _ name: String,
        _ object: KeyedArchiveReader.Object
    ) throws -> RelationshipDescription {
        let fields = object.fields
        guard
            let destination = reader.string(fields["_NSDestinationEntityName"])
                ?? self.name(fields["NSDestinationEntity"], key: "NSEntityName")
        else { throw UndecodableData("a relationship of the managed object model has no destination") }
        return RelationshipDescription(
            name: name,
            destination: destination,
            inverse: reader.string(fields["_NSInverseRelationshipName"])
                ?? self.name(fields["NSInverseRelationship"], key: "NSPropertyName"),
            minCount: integer(object, "NSMinCount") ?? 0,
            maxCount: integer(object, "NSMaxCount") ?? 0,
            isOrdered: reader.flag(fields["NSIsOrdered"]),
            isOptional: reader.flag(fields["NSIsOptional"]),
            isTransient: reader.flag(fields["NSIsTransient"]),
            deleteRule: integer(object, "NSDeleteRule").flatMap(RelationshipDescription.DeleteRule.init) ?? .noAction,
            renamingIdentifier: renamingIdentifier(object, of: name),
            versionHashModifier: reader.string(object.fields["NSVersionHashModifier"])
        )
    }

    // MARK: Constraints and indexes

    private func uniquenessConstraints(_ object: KeyedArchiveReader.Object) -> [[String]] {
        (reader.elements(object.fields["NSUniqueTuples"]) ?? [])
            .compactMap { tuple in
                // A member is a name, or the property with that name.
                let names = reader.elements(tuple)?
                    .map { reader.string($0) ?? name($0, key: "NSPropertyName") }
                guard let names, !names.isEmpty, !names.contains(nil) else { return nil }
                return names.compactMap(\.self)
            }
    }

    private func fetchIndexes(_ object: KeyedArchiveReader.Object) -> [FetchIndexDescription] {
        (reader.elements(object.fields["NSFetchIndexDescriptions"]) ?? []).compactMap(reader.object)
            .filter { reader.object($0.fields["NSEntity"])?.index ?? object.index == object.index }
            .compactMap { index in
                guard let name = reader.string(index.fields["NSIndexName"]) else { return nil }
                return FetchIndexDescription(
                    name: name,
                    elements: (reader.elements(index.fields["NSIndexElements"]) ?? []).compactMap(reader.object)
                        .map(element),
                    isPartial: reader.resolve(index.fields["NSPartialIndexPredicate"]) != nil
                )
            }
    }

    private func element(_ object: KeyedArchiveReader.Object) -> FetchIndexDescription.Element {
        FetchIndexDescription.Element(
            property: reader.string(object.fields["NSPropertyName"])
                ?? name(object.fields["NSIndexedProperty"], key: "NSPropertyName") ?? "",
            kind: integer(object, "NSFetchIndexElementType").flatMap(FetchIndexDescription.Element.Kind.init)
                ?? .binary,
            isAscending: reader.flag(object.fields["NSAscending"])
        )
    }

    /// The first generation of history listed the attributes to preserve in the user info; their order matters.
    private func legacyTombstoneAttributes(_ object: KeyedArchiveReader.Object) -> [String] {
        let userInfo = reader.dictionary(object.fields["NSUserInfo"])
        let names = reader.string(userInfo?["NSPersistentHistoryTombstoneAttributes"]) ?? ""
        return names.split(separator: ",")
            .map { String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
    }

    // MARK: Fields

    private func integer(_ object: KeyedArchiveReader.Object, _ key: String) -> Int? {
        reader.integer(object.fields[key]).flatMap { Int(exactly: $0) }
    }

    /// An archive names every element that was never renamed as its own identifier.
    private func renamingIdentifier(_ object: KeyedArchiveReader.Object, of name: String) -> String? {
        reader.string(object.fields["NSRenamingIdentifier"]).flatMap { $0.isEmpty || $0 == name ? nil : $0 }
    }

    /// The name of the object that a field refers to.
    private func name(_ value: PropertyListValue?, key: String) -> String? {
        reader.object(value).flatMap { reader.string($0.fields[key]) }
    }
}

extension KeyedArchiveReader {
    /// The property itself if newer archives contain a placeholder for it.
    func property(_ value: PropertyListValue) -> Object? {
        guard let object = object(value) else { return nil }
        return object.className == "_NSPropertyDescriptionProxy"
            ? self.object(object.fields["NSUnderlyingProperty"]) : object
    }
}
