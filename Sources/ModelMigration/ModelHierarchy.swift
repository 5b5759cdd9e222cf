import StoreFormat
import StoreWriting

/// The inheritance forest of a valid model, with answers that do not follow a chain of parents.
struct ModelHierarchy {
    private let numbering: EntityNumbering
    /// The number after the last descendant of each entity: a subtree has consecutive numbers.
    private let ends: [String: Int64]

    init(_ model: ManagedObjectModel, _ numbering: EntityNumbering) {
        self.numbering = numbering
        var ends: [String: Int64] = [:]
        // Descendants follow their ancestors, so the last ones come first here.
        for (position, name) in numbering.names.enumerated().reversed() {
            let end = max(ends[name] ?? 0, Int64(position) + 2)
            ends[name] = end
            guard let parent = model.entitiesByName[name]?.superentity else { continue }
            ends[parent] = max(ends[parent] ?? 0, end)
        }
        self.ends = ends
    }

    func root(of entity: String) -> String? { numbering.root(of: entity) }

    /// True if the entity is `ancestor` or inherits from it.
    func isEntity(_ name: String, kindOf ancestor: String) -> Bool {
        guard let number = numbering.number(of: name), let first = numbering.number(of: ancestor),
            let end = ends[ancestor]
        else { return false }
        return (first..<end).contains(number)
    }

    /// The entity and all its descendants.
    func subtree(of entity: String) -> ArraySlice<String> {
        guard let first = numbering.number(of: entity), let end = ends[entity] else { return [] }
        return numbering.names[Int(first) - 1..<Int(end) - 1]
    }
}

/// The persistent properties that an entity has or inherits, by renaming identifier, each with the entity that declares it.
struct PropertyIndex {
    private(set) var attributes: [String: (attribute: AttributeDescription, declaredBy: String)] = [:]
    private(set) var relationships: [String: (relationship: RelationshipDescription, declaredBy: String)] = [:]

    /// Indexes the properties of an entity of `model`; nothing without an entity.
    init(of entity: EntityDescription?, in model: ManagedObjectModel) {
        guard let entity else { return }
        for ancestor in model.lineage(of: entity.name) {
            for attribute in ancestor.attributes where !attribute.isTransient {
                if attributes[attribute.canonicalName] == nil {
                    attributes[attribute.canonicalName] = (attribute, ancestor.name)
                }
            }
            for relationship in ancestor.relationships where !relationship.isTransient {
                if relationships[relationship.canonicalName] == nil {
                    relationships[relationship.canonicalName] = (relationship, ancestor.name)
                }
            }
        }
    }

    func contains(_ canonicalName: String) -> Bool {
        attributes[canonicalName] != nil || relationships[canonicalName] != nil
    }

    /// The identifier of each property, by its name.
    var canonicalNames: [String: String] {
        let names =
            attributes.map { ($1.attribute.name, $0) } + relationships.map { ($1.relationship.name, $0) }
        return Dictionary(names, uniquingKeysWith: { first, _ in first })
    }

    /// The name of each property, by its identifier; an attribute's if both kinds have it.
    var names: [String: String] {
        attributes.mapValues(\.attribute.name)
            .merging(relationships.mapValues(\.relationship.name), uniquingKeysWith: { attribute, _ in attribute })
    }
}
