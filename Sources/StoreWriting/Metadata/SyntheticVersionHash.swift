package import StoreFormat

/// Stand-ins for the 32-byte version hashes of entities, whose algorithm Apple does not publish.
///
/// Like the genuine ones, they distinguish models and are equal for equal entities. Core Data itself would reject a
/// store with them as one of another model. Such a store is marked in its metadata
/// (``MetadataWriter/syntheticHashesKey``).
package enum SyntheticVersionHash {
    /// Returns the stand-in for each entity of `model`: SHA-256 of a text that describes the entity with its inherited
    /// properties.
    package static func hashes(of model: ManagedObjectModel) -> [String: [UInt8]] {
        model.entitiesByName.mapValues { SHA256.digest(of: Array(text(of: $0, in: model).utf8)) }
    }

    private static func text(of entity: EntityDescription, in model: ManagedObjectModel) -> String {
        var lines = ["entity \(entity.name) \(entity.superentity ?? "") \(entity.isAbstract)"]
        if let modifier = entity.versionHashModifier { lines.append("modifier \(modifier)") }
        for ancestor in model.lineage(of: entity.name) {
            lines += ancestor.attributes.map(text).sorted()
            lines += ancestor.relationships.map(text).sorted()
            lines += ancestor.uniquenessConstraints.map { "unique \($0.joined(separator: " "))" }.sorted()
        }
        return lines.joined(separator: "\n")
    }

    private static func text(of attribute: AttributeDescription) -> String {
        "attribute \(attribute.name) \(attribute.type.rawValue) \(attribute.isOptional) \(attribute.isTransient) "
            + "\(attribute.isDerived) \(attribute.allowsExternalBinaryDataStorage) "
            + "\(attribute.preservesValueInHistoryOnDeletion) \(attribute.valueTransformerName ?? "")"
            + (attribute.derivationExpression.map { " " + $0 } ?? "")
            + (attribute.versionHashModifier.map { " modifier " + $0 } ?? "")
    }

    private static func text(of relationship: RelationshipDescription) -> String {
        "relationship \(relationship.name) \(relationship.destination) \(relationship.inverse ?? "") "
            + "\(relationship.minCount) \(relationship.maxCount) \(relationship.isOrdered) \(relationship.isOptional) "
            + "\(relationship.isTransient) \(relationship.deleteRule.rawValue)"
            + (relationship.versionHashModifier.map { " modifier " + $0 } ?? "")
    }
}
