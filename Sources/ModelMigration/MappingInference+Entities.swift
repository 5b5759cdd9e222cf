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
        let (known, current) = (PropertyIndex(of: former, in: source), PropertyIndex(of: entity, in: target))
        let attributes = mapAttributes(of: entity, former, known)
        let relationships = mapRelationships(of: entity, former, known)
        if let former { noteRemovals(of: entity, former, current) }
        compareDefinitions(of: entity, former, from: known.canonicalNames, to: current.names)
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
    private mutating func noteRemovals(
        of entity: EntityDescription,
        _ former: EntityDescription,
        _ current: PropertyIndex
    ) {
        for attribute in former.attributes
        where !attribute.isTransient && !current.contains(attribute.canonicalName) {
            note(.attributeRemoved, entity.name, attribute.name)
        }
        for relationship in former.relationships
        where !relationship.isTransient && !current.contains(relationship.canonicalName) {
            note(.relationshipRemoved, entity.name, relationship.name)
        }
    }

    // MARK: Constraints and indexes

    /// Compares what the entities declare; `identifiers` has the former properties, and `names` the present ones.
    private mutating func compareDefinitions(
        of entity: EntityDescription,
        _ former: EntityDescription?,
        from identifiers: [String: String],
        to names: [String: String]
    ) {
        // The present name of a former property; unchanged where there is no counterpart.
        func renamed(_ name: String) -> String { identifiers[name].flatMap { names[$0] } ?? name }
        let known = former?.uniquenessConstraints.map { $0.map(renamed) } ?? []
        let knownConstraints = Set(known)
        for constraint in entity.uniquenessConstraints where !knownConstraints.contains(constraint) {
            if former != nil { note(.constraintAdded, entity.name, constraint.joined(separator: ", ")) }
            require(.uniqueValues(entity: entity.name, properties: constraint))
        }
        let constraints = Set(entity.uniquenessConstraints)
        for constraint in known where !constraints.contains(constraint) {
            note(.constraintRemoved, entity.name, constraint.joined(separator: ", "))
        }
        guard let former else { return }
        let indexes = Set(
            former.fetchIndexes.map { index in
                FetchIndexDescription(
                    name: index.name,
                    elements: index.elements.map { element in
                        FetchIndexDescription.Element(
                            property: renamed(element.property),
                            kind: element.kind,
                            isAscending: element.isAscending
                        )
                    },
                    isPartial: index.isPartial
                )
            }
        )
        for index in entity.fetchIndexes where !indexes.contains(index) { note(.indexAdded, entity.name, index.name) }
        let present = Set(entity.fetchIndexes.map(\.name))
        for index in former.fetchIndexes.map(\.name) where !present.contains(index) {
            note(.indexRemoved, entity.name, index)
        }
    }
}
