import CZlib
package import StoreAccess
package import StoreFormat

/// Writes a model in the form of `Z_MODELCACHE`: a keyed archive, as a binary property list, deflated.
///
/// Classes and keys are those of genuine stores (COREDATA §1.7). Parts that our model lacks (default values, validation
/// predicates, class names) are written as absent.
package struct ModelCacheWriter {
    private let model: ManagedObjectModel
    private var archive = KeyedArchiveWriter()
    private var entityReferences: [String: PropertyListValue] = [:]
    /// The relationships' references by entity and name, so that inverses can refer to each other.
    private var relationshipReferences: [String: [String: PropertyListValue]] = [:]

    private init(_ model: ManagedObjectModel) {
        self.model = model
    }

    /// Returns the bytes of `Z_CONTENT` for `model`.
    package static func bytes(of model: ManagedObjectModel) throws(StoreError) -> [UInt8] {
        try Deflate.deflate(PropertyListWriter.bytes(of: archive(of: model)))
    }

    /// Returns the keyed archive of `model`.
    package static func archive(of model: ManagedObjectModel) -> PropertyListValue {
        var writer = ModelCacheWriter(model)
        return writer.write()
    }

    private mutating func write() -> PropertyListValue {
        let root = archive.reserve()
        let names = model.entitiesByName.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        for name in names {
            entityReferences[name] = archive.reserve()
            for entity in model.lineage(of: name) {
                for relationship in entity.relationships {
                    relationshipReferences[name, default: [:]][relationship.name] = archive.reserve()
                }
            }
        }
        for name in names {
            if let entity = model.entitiesByName[name] { define(entity, model: root) }
        }
        let identifiers = model.versionIdentifiers.map { archive.string($0) }
        let entities = knownKeysDictionary(names)
        let identifierSet = archive.set(identifiers)
        archive.define(
            root,
            as: ["NSManagedObjectModel", "NSObject"],
            [
                "NSEntities": entities,
                "NSFetchRequestTemplates": KeyedArchiveWriter.null,
                "NSVersionIdentifiers": identifierSet,
            ]
        )
        return archive.archive(root: root)
    }

    /// The dictionary of entities, in the class that Core Data uses for dictionaries with a fixed set of keys.
    private mutating func knownKeysDictionary(_ names: [String]) -> PropertyListValue {
        let keys = names.map { archive.string($0) }
        let keyArray = archive.array(keys)
        let mapping = archive.object(
            ["NSKnownKeysMappingStrategy1", "NSKnownKeysMappingStrategy", "NSObject"],
            ["keys": keyArray, "length": .integer(Int64(names.count)), "version": .integer(1)]
        )
        let values = archive.array(names.compactMap { entityReferences[$0] })
        let emptyToken = archive.string("__empty_slot_token_4c24_98dc_ac1e_b773__")
        return archive.object(
            ["NSKnownKeysDictionary1", "NSKnownKeysDictionary", "NSMutableDictionary", "NSDictionary", "NSObject"],
            ["searchMapping": mapping, "values": values, "emptyToken": emptyToken, "version": .integer(1)]
        )
    }

    private mutating func define(_ entity: EntityDescription, model root: PropertyListValue) {
        guard let reference = entityReferences[entity.name] else { return }
        let name = archive.string(entity.name)
        let subentities = model.entitiesByName.values.filter { $0.superentity == entity.name }.map(\.name)
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let subentityEntries = subentities.compactMap { name in
            entityReferences[name].map { (key: archive.string(name), value: $0) }
        }
        var fields: [String: PropertyListValue] = [
            "NSEntityName": name,
            "NSRenamingIdentifier": entity.renamingIdentifier.map { archive.string($0) } ?? name,
            "NSClassNameForEntity": KeyedArchiveWriter.null,
            "NSVersionHashModifier": entity.versionHashModifier.map { archive.string($0) } ?? KeyedArchiveWriter.null,
            "NSManagedObjectModel": root,
            "NSSuperentity": entity.superentity.flatMap { entityReferences[$0] } ?? KeyedArchiveWriter.null,
            "NSSubentities": archive.dictionary(subentityEntries),
            "NSProperties": properties(of: entity, reference),
            "NSUserInfo": userInfo(of: entity),
        ]
        if entity.isAbstract { fields["NSIsAbstract"] = .boolean(true) }
        if !entity.uniquenessConstraints.isEmpty {
            let tuples = entity.uniquenessConstraints.map { tuple in
                archive.array(tuple.map { archive.string($0) }, mutable: true)
            }
            fields["NSUniqueTuples"] = archive.array(tuples, mutable: true)
        }
        if !entity.fetchIndexes.isEmpty {
            let indexes = entity.fetchIndexes.map { fetchIndex($0, reference) }
            fields["NSFetchIndexDescriptions"] = archive.array(indexes, mutable: true)
        }
        archive.define(reference, as: ["NSEntityDescription", "NSObject"], fields)
    }

    /// The properties of an entity, the inherited ones repeated with the entity as their owner, as Core Data does.
    private mutating func properties(of entity: EntityDescription, _ owner: PropertyListValue) -> PropertyListValue {
        var entries: [(key: PropertyListValue, value: PropertyListValue)] = []
        for ancestor in model.lineage(of: entity.name) {
            for attribute in ancestor.attributes {
                entries.append((archive.string(attribute.name), self.attribute(attribute, owner)))
            }
            for relationship in ancestor.relationships {
                guard let reference = relationshipReferences[entity.name]?[relationship.name] else { continue }
                define(relationship, reference, owner)
                entries.append((archive.string(relationship.name), reference))
            }
        }
        return archive.dictionary(entries)
    }

    private mutating func userInfo(of entity: EntityDescription) -> PropertyListValue {
        guard !entity.legacyTombstoneAttributes.isEmpty else { return archive.dictionary([]) }
        let key = archive.string("NSPersistentHistoryTombstoneAttributes")
        let value = archive.string(entity.legacyTombstoneAttributes.joined(separator: ","))
        return archive.dictionary([(key, value)])
    }

    private mutating func attribute(
        _ attribute: AttributeDescription,
        _ owner: PropertyListValue
    ) -> PropertyListValue {
        var flags: Int64 = 0
        if attribute.allowsExternalBinaryDataStorage { flags |= 4 }
        if attribute.preservesValueInHistoryOnDeletion { flags |= 16 }
        let name = archive.string(attribute.name)
        let transformer = attribute.valueTransformerName.map { archive.string($0) }
        var fields: [String: PropertyListValue] = [
            "NSPropertyName": name,
            "NSRenamingIdentifier": attribute.renamingIdentifier.map { archive.string($0) } ?? name,
            "NSEntity": owner,
            "NSAttributeType": .integer(Int64(attribute.type.rawValue)),
            "NSAttributeValueClassName": attribute.type.valueClassName.map { archive.string($0) }
                ?? KeyedArchiveWriter.null,
            "NSDefaultValue": defaultValue(attribute.defaultValue),
            "NSValueTransformerName": transformer ?? KeyedArchiveWriter.null,
            "NSFlagsKey": .integer(flags),
        ]
        if attribute.isOptional { fields["NSIsOptional"] = .boolean(true) }
        if attribute.isTransient { fields["NSIsTransient"] = .boolean(true) }
        if let modifier = attribute.versionHashModifier { fields["NSVersionHashModifier"] = archive.string(modifier) }
        guard attribute.isDerived else {
            return archive.object(["NSAttributeDescription", "NSPropertyDescription", "NSObject"], fields)
        }
        fields["NSIsReadOnly"] = .boolean(true)
        fields["NSDerivationExpression"] =
            attribute.derivationExpression.map { archive.expression($0) } ?? KeyedArchiveWriter.null
        fields["NSFilteringPredicate"] = KeyedArchiveWriter.null
        return archive.object(
            ["NSDerivedAttributeDescription", "NSAttributeDescription", "NSPropertyDescription", "NSObject"],
            fields
        )
    }

    private mutating func defaultValue(_ value: PropertyListValue?) -> PropertyListValue {
        switch value {
        case .string(let text): archive.string(text)
        case .date(let seconds): archive.object(["NSDate", "NSObject"], ["NS.time": .real(seconds)])
        case .integer, .real, .boolean, .data: archive.value(value)
        case .array, .dictionary, .uid, nil: KeyedArchiveWriter.null
        }
    }

    private mutating func define(
        _ relationship: RelationshipDescription,
        _ reference: PropertyListValue,
        _ owner: PropertyListValue
    ) {
        let name = archive.string(relationship.name)
        let inverse = relationship.inverse.flatMap { relationshipReferences[relationship.destination]?[$0] }
        let inverseName = relationship.inverse.map { archive.string($0) }
        var fields: [String: PropertyListValue] = [
            "NSPropertyName": name,
            "NSRenamingIdentifier": relationship.renamingIdentifier.map { archive.string($0) } ?? name,
            "NSEntity": owner,
            "NSDestinationEntity": entityReferences[relationship.destination] ?? KeyedArchiveWriter.null,
            "_NSDestinationEntityName": archive.string(relationship.destination),
            "NSInverseRelationship": inverse ?? KeyedArchiveWriter.null,
            "_NSInverseRelationshipName": inverseName ?? KeyedArchiveWriter.null,
            "NSMinCount": .integer(Int64(relationship.minCount)),
            "NSMaxCount": .integer(Int64(relationship.maxCount)),
            "NSDeleteRule": .integer(Int64(relationship.deleteRule.rawValue)),
        ]
        if relationship.isOptional { fields["NSIsOptional"] = .boolean(true) }
        if relationship.isOrdered { fields["NSIsOrdered"] = .boolean(true) }
        if relationship.isTransient { fields["NSIsTransient"] = .boolean(true) }
        if let modifier = relationship.versionHashModifier {
            fields["NSVersionHashModifier"] = archive.string(modifier)
        }
        archive.define(reference, as: ["NSRelationshipDescription", "NSPropertyDescription", "NSObject"], fields)
    }

    private mutating func fetchIndex(
        _ index: FetchIndexDescription,
        _ owner: PropertyListValue
    ) -> PropertyListValue {
        let reference = archive.reserve()
        let elements = index.elements.map { element in
            var fields: [String: PropertyListValue] = [
                "NSPropertyName": archive.string(element.property),
                "NSFetchIndexElementType": .integer(Int64(element.kind.rawValue)),
                "NSFetchIndexDescription": reference,
            ]
            if element.isAscending { fields["NSAscending"] = .boolean(true) }
            return archive.object(["NSFetchIndexElementDescription", "NSObject"], fields)
        }
        // Our model records only that a predicate exists; this placeholder represents it.
        let predicate =
            index.isPartial
            ? archive.object(["NSTruePredicate", "NSPredicate", "NSObject"], [:]) : KeyedArchiveWriter.null
        archive.define(
            reference,
            as: ["NSFetchIndexDescription", "NSObject"],
            [
                "NSIndexName": archive.string(index.name),
                "NSIndexElements": archive.array(elements, mutable: true),
                "NSEntity": owner,
                "NSPartialIndexPredicate": predicate,
            ]
        )
        return reference
    }
}

/// Compresses as raw DEFLATE (RFC 1951), the format of Core Data's model cache.
package enum Deflate {
    package static func deflate(_ bytes: [UInt8]) throws(StoreError) -> [UInt8] {
        var stream = z_stream()
        // Negative window bits: no zlib header and no checksum.
        guard czlib_deflate_init(&stream, 9, -15) == Z_OK else {
            throw StoreError(.failed, path: "", "zlib cannot start compressing")
        }
        defer { deflateEnd(&stream) }
        guard let inputCount = uInt(exactly: bytes.count) else {
            throw StoreError(.incompatible, path: "", "more than 4 GB cannot be compressed at once")
        }
        // `deflateBound` is an upper limit of the output, so one call finishes.
        let bound = deflateBound(&stream, uLong(inputCount))
        guard let outputCount = uInt(exactly: bound) else {
            throw StoreError(.incompatible, path: "", "more than 4 GB cannot be compressed at once")
        }
        var input = bytes
        var status = Z_OK
        let output = [UInt8](unsafeUninitializedCapacity: Int(outputCount)) { buffer, count in
            input.withUnsafeMutableBufferPointer { source in
                stream.next_in = source.baseAddress
                stream.avail_in = inputCount
                stream.next_out = buffer.baseAddress
                stream.avail_out = outputCount
                status = CZlib.deflate(&stream, Z_FINISH)
            }
            count = Int(outputCount - stream.avail_out)
        }
        guard status == Z_STREAM_END else {
            throw StoreError(.failed, path: "", "zlib could not compress the model")
        }
        return output
    }
}
