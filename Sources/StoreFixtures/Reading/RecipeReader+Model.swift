import StoreFormat

/// The types of attributes in recipes, with the names of `AttributeDescription`.
private enum TypeWord: String, CaseIterable {
    case integer16, integer32, integer64, decimal, double, float, string, boolean, date, binaryData, uuid, uri
    case transformable

    var type: AttributeDescription.AttributeType {
        switch self {
        case .integer16: .integer16
        case .integer32: .integer32
        case .integer64: .integer64
        case .decimal: .decimal
        case .double: .double
        case .float: .float
        case .string: .string
        case .boolean: .boolean
        case .date: .date
        case .binaryData: .binaryData
        case .uuid: .uuid
        case .uri: .uri
        case .transformable: .transformable
        }
    }
}

private enum DeleteRuleWord: String, CaseIterable {
    case noAction, nullify, cascade, deny

    var rule: RelationshipDescription.DeleteRule {
        switch self {
        case .noAction: .noAction
        case .nullify: .nullify
        case .cascade: .cascade
        case .deny: .deny
        }
    }
}

extension RecipeReader {
    func model(_ node: RecipeNode) throws(RecipeError) -> ManagedObjectModel {
        let mapping = try node.mapping()
        try mapping.allow(["versionIdentifiers", "entities"])
        var entities: [EntityDescription] = []
        for entry in try mapping.required("entities").mapping().entries {
            entities.append(try entity(entry.name, entry.value))
        }
        return ManagedObjectModel(
            entities: entities,
            versionIdentifiers: try mapping["versionIdentifiers"]?.texts() ?? []
        )
    }

    private func entity(_ name: String, _ node: RecipeNode) throws(RecipeError) -> EntityDescription {
        let mapping = try node.mapping()
        try mapping.allow([
            "parent", "abstract", "attributes", "relationships", "unique", "indexes", "tombstones",
        ])
        var attributes: [AttributeDescription] = []
        for entry in try mapping["attributes"]?.mapping().entries ?? [] {
            attributes.append(try attribute(entry.name, entry.value))
        }
        var relationships: [RelationshipDescription] = []
        for entry in try mapping["relationships"]?.mapping().entries ?? [] {
            relationships.append(try relationship(entry.name, entry.value))
        }
        var constraints: [[String]] = []
        for constraint in try mapping["unique"]?.list() ?? [] { constraints.append(try constraint.texts()) }
        var indexes: [FetchIndexDescription] = []
        for entry in try mapping["indexes"]?.mapping().entries ?? [] {
            indexes.append(FetchIndexDescription(name: entry.name, properties: try entry.value.texts()))
        }
        return EntityDescription(
            name: name,
            superentity: try mapping["parent"]?.text(),
            isAbstract: try mapping["abstract"]?.boolean() ?? false,
            attributes: attributes.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) },
            relationships: relationships.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) },
            uniquenessConstraints: constraints,
            fetchIndexes: indexes,
            legacyTombstoneAttributes: try mapping["tombstones"]?.texts() ?? []
        )
    }

    /// Either the type alone, or a mapping with the type and flags.
    private func attribute(_ name: String, _ node: RecipeNode) throws(RecipeError) -> AttributeDescription {
        if node.isScalar {
            return AttributeDescription(name: name, type: try node.word(TypeWord.self).type)
        }
        let mapping = try node.mapping()
        try mapping.allow([
            "type", "optional", "transient", "externalStorage", "preserveAfterDeletion", "transformer",
        ])
        return AttributeDescription(
            name: name,
            type: try mapping.required("type").word(TypeWord.self).type,
            isOptional: try mapping["optional"]?.boolean() ?? true,
            isTransient: try mapping["transient"]?.boolean() ?? false,
            allowsExternalBinaryDataStorage: try mapping["externalStorage"]?.boolean() ?? false,
            preservesValueInHistoryOnDeletion: try mapping["preserveAfterDeletion"]?.boolean() ?? false,
            valueTransformerName: try mapping["transformer"]?.text()
        )
    }

    private func relationship(_ name: String, _ node: RecipeNode) throws(RecipeError) -> RelationshipDescription {
        let mapping = try node.mapping()
        try mapping.allow(["to", "inverse", "many", "ordered", "optional", "deleteRule", "minCount", "maxCount"])
        let isToMany = try mapping["many"]?.boolean() ?? false
        let isOrdered = try mapping["ordered"]?.boolean() ?? false
        if isOrdered, !isToMany { throw node.error("only a relationship with 'many: true' can be ordered") }
        return RelationshipDescription(
            name: name,
            destination: try mapping.required("to").text(),
            inverse: try mapping["inverse"]?.text(),
            minCount: Int(try mapping["minCount"]?.integer(in: 0...1_000_000) ?? 0),
            maxCount: Int(try mapping["maxCount"]?.integer(in: 0...1_000_000) ?? (isToMany ? 0 : 1)),
            isOrdered: isOrdered,
            isOptional: try mapping["optional"]?.boolean() ?? true,
            deleteRule: try mapping["deleteRule"]?.word(DeleteRuleWord.self).rule ?? .nullify
        )
    }
}
