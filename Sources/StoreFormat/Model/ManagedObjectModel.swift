package import StoreAccess

/// The entities of a store, their properties and how they relate.
public struct ManagedObjectModel: Hashable, Sendable {
    public let entitiesByName: [String: EntityDescription]
    public let versionIdentifiers: [String]

    /// Creates a model; of several entities with one name it has the first.
    public init(entities: [EntityDescription], versionIdentifiers: [String] = []) {
        entitiesByName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.versionIdentifiers = versionIdentifiers
    }

    /// The entities in the byte order of their names.
    public var entities: [EntityDescription] {
        entitiesByName.values.sorted { Self.inByteOrder($0.name, $1.name) }
    }
}

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

extension ManagedObjectModel {
    /// The maximum size of a decompressed model cache; that of Photos, with 61 entities, has 300 kB.
    private static let archiveLimit = 64 << 20

    /// Decodes the content of `Z_MODELCACHE`: a keyed archive compressed with raw DEFLATE.
    package init(modelCache: [UInt8]) throws {
        try self.init(archive: Inflate.inflate(modelCache, limit: Self.archiveLimit))
    }

    /// Decodes a model from its keyed archive, which compiled models contain too.
    package init(archive: [UInt8]) throws { self = try Self.annotated(archive: archive).model }

    /// Decodes a model and its annotations from the content of `Z_MODELCACHE`.
    package static func annotated(
        modelCache: [UInt8]
    ) throws -> (model: ManagedObjectModel, annotations: ModelAnnotations) {
        try annotated(archive: Inflate.inflate(modelCache, limit: archiveLimit))
    }

    /// Decodes a model and its annotations from its keyed archive.
    package static func annotated(
        archive: [UInt8]
    ) throws -> (model: ManagedObjectModel, annotations: ModelAnnotations) {
        let reader = try KeyedArchiveReader(PropertyListReader.value(from: archive))
        guard let root = reader.topObject(), root.className == "NSManagedObjectModel" else {
            throw UndecodableData("the archive contains no managed object model")
        }
        guard let entities = reader.dictionary(root.fields["NSEntities"]) else {
            throw UndecodableData("the managed object model has no entities")
        }
        let decoder = ModelDecoder(reader: reader)
        let model = ManagedObjectModel(
            entities: try decoder.entities(entities),
            versionIdentifiers: (reader.elements(root.fields["NSVersionIdentifiers"]) ?? [])
                .compactMap(reader.string).sorted(by: inByteOrder)
        )
        return (model, ModelAnnotations(reader, entities))
    }
}

extension ManagedObjectModel {
    /// A model inferred from the tables alone, for stores that keep no copy of their model.
    ///
    /// Every property belongs to a root, because one table contains a whole tree; its name is the column's, in upper
    /// case. Types follow from the declared types. A to-one is recognised by its entity column, or by its index if the
    /// column has an entity's name; all other keys stay integers. Many-to-many relationships follow from their join
    /// tables.
    package static func inferred(from schema: StoreSchema, entityNumbers: EntityNumbers) -> ManagedObjectModel {
        let inference = ModelFromSchema(schema: schema, numbers: entityNumbers)
        return ManagedObjectModel(entities: entityNumbers.modelEntries.map(inference.entity))
    }
}
