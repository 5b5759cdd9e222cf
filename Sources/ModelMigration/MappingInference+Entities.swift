import StoreFormat

extension MappingInference {
    /// Maps one entity of the target, and notes its differences.
    mutating func map(_ entity: EntityDescription) -> EntityMapping {
        let former = sources[entity.name].flatMap { source.entitiesByName[$0] }
        if let former {
            if former.name != entity.name { note(.entityRenamed, entity.name, former: former.name) }
            let parent = former.superentity.flatMap { targets[$0] }
            if parent != entity.superentity { note(.parentChanged, entity.name, former: former.superentity) }
            if former.versionHashModifier != entity.versionHashModifier {
                note(.versionHashModifierChanged, entity.name, former: former.versionHashModifier)
            }
        } else {
            note(.entityAdded, entity.name)
        }
        requireUnambiguousProperties(of: entity.name, in: target)
        if let former { requireUnambiguousProperties(of: former.name, in: source) }
        let attributes = mapAttributes(of: entity, former)
        let relationships = mapRelationships(of: entity, former)
        if let former { noteRemovals(of: entity, former) }
        compareDefinitions(of: entity, former)
        return EntityMapping(
            target: entity.name,
            source: former?.name,
            attributes: attributes,
            relationships: relationships
        )
    }

    private mutating func requireUnambiguousProperties(of entity: String, in model: ManagedObjectModel) {
        let names =
            model.attributes(of: entity).filter { !$0.isTransient }.map(\.canonicalName)
            + model.relationships(of: entity).filter { !$0.isTransient }.map(\.canonicalName)
        var seen: Set<String> = []
        for name in names where !seen.insert(name).inserted {
            refuse(
                .ambiguousRenaming,
                entity: entity,
                "two properties have the renaming identifier \(name)",
                remedy: "Give each property its own renaming identifier."
            )
        }
    }

    /// The properties that the source's entity has and the target's lacks.
    private mutating func noteRemovals(of entity: EntityDescription, _ former: EntityDescription) {
        let kept = Set(
            target.attributes(of: entity.name).filter { !$0.isTransient }.map(\.canonicalName)
                + target.relationships(of: entity.name).filter { !$0.isTransient }.map(\.canonicalName)
        )
        for attribute in former.attributes where !attribute.isTransient && !kept.contains(attribute.canonicalName) {
            note(.attributeRemoved, entity.name, attribute.name)
        }
        for relationship in former.relationships
        where !relationship.isTransient && !kept.contains(relationship.canonicalName) {
            note(.relationshipRemoved, entity.name, relationship.name)
        }
    }

    // MARK: Constraints and indexes

    private mutating func compareDefinitions(of entity: EntityDescription, _ former: EntityDescription?) {
        let known =
            former.map { former in former.uniquenessConstraints.map { renamed($0, former.name, entity.name) } } ?? []
        for constraint in entity.uniquenessConstraints where !known.contains(constraint) {
            if former != nil { note(.constraintAdded, entity.name, constraint.joined(separator: ", ")) }
            require(.uniqueValues(entity: entity.name, properties: constraint))
        }
        for constraint in known where !entity.uniquenessConstraints.contains(constraint) {
            note(.constraintRemoved, entity.name, constraint.joined(separator: ", "))
        }
        guard let former else { return }
        let indexes = Set(
            former.fetchIndexes.map { index in
                FetchIndexDescription(
                    name: index.name,
                    elements: index.elements.map { element in
                        FetchIndexDescription.Element(
                            property: renamed([element.property], former.name, entity.name)[0],
                            kind: element.kind,
                            isAscending: element.isAscending
                        )
                    },
                    isPartial: index.isPartial
                )
            }
        )
        for index in entity.fetchIndexes where !indexes.contains(index) { note(.indexAdded, entity.name, index.name) }
        for index in former.fetchIndexes.map(\.name) where !entity.fetchIndexes.contains(where: { $0.name == index }) {
            note(.indexRemoved, entity.name, index)
        }
    }

    /// The names of properties of a source entity in the target entity; unchanged where there is no counterpart.
    private func renamed(_ names: [String], _ former: String, _ entity: String) -> [String] {
        let canonical = Dictionary(
            source.attributes(of: former).map { ($0.name, $0.canonicalName) }
                + source.relationships(of: former).map { ($0.name, $0.canonicalName) },
            uniquingKeysWith: { first, _ in first }
        )
        let current = Dictionary(
            target.attributes(of: entity).map { ($0.canonicalName, $0.name) }
                + target.relationships(of: entity).map { ($0.canonicalName, $0.name) },
            uniquingKeysWith: { first, _ in first }
        )
        return names.map { name in canonical[name].flatMap { current[$0] } ?? name }
    }
}
