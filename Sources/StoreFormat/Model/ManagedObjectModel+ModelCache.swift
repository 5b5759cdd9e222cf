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
