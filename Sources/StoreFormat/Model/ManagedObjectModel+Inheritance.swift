extension ManagedObjectModel {
    /// The entity and its ancestors, from the root down; empty if there is no such entity.
    ///
    /// In a malformed model a missing parent or a cycle ends the list.
    package func lineage(of name: String) -> [EntityDescription] {
        var result: [EntityDescription] = []
        var seen: Set<String> = []
        var next: String? = name
        while let name = next, seen.insert(name).inserted, let entity = entitiesByName[name] {
            result.append(entity)
            next = entity.superentity
        }
        return result.reversed()
    }

    /// True if the entity is `ancestor` or inherits from it.
    package func isEntity(_ name: String, kindOf ancestor: String) -> Bool {
        lineage(of: name).contains { $0.name == ancestor }
    }

    /// The names of the entities that inherit from this one directly, in byte order.
    package func subentities(of name: String) -> [String] {
        entitiesByName.values.filter { $0.superentity == name && $0.name != name }.map(\.name)
            .sorted(by: Self.inByteOrder)
    }

    /// The attributes of an entity, inherited ones first.
    package func attributes(of name: String) -> [AttributeDescription] {
        lineage(of: name).flatMap(\.attributes)
    }

    /// The relationships of an entity, inherited ones first.
    package func relationships(of name: String) -> [RelationshipDescription] {
        lineage(of: name).flatMap(\.relationships)
    }

    /// Returns a relationship that the entity has or inherits, and the name of the entity that declares it.
    package func relationship(
        _ name: String,
        of entity: String
    ) -> (declaredBy: String, relationship: RelationshipDescription)? {
        for ancestor in lineage(of: entity) {
            if let relationship = ancestor.relationships.first(where: { $0.name == name }) {
                return (ancestor.name, relationship)
            }
        }
        return nil
    }

    /// Core Data sorts names by their UTF-8 bytes in files.
    package static func inByteOrder(_ first: String, _ second: String) -> Bool {
        first.utf8.lexicographicallyPrecedes(second.utf8)
    }
}
