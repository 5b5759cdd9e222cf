extension ManagedObjectModel {
    /// The greatest size of an unfolded model cache; that of Photos, with 61 entities, has 300 kB.
    private static let archiveLimit = 64 << 20

    /// Decodes the content of `Z_MODELCACHE`: a keyed archive under raw DEFLATE.
    package init(modelCache: [UInt8]) throws {
        try self.init(archive: Inflate.inflate(modelCache, limit: Self.archiveLimit))
    }

    /// Decodes a model from its keyed archive, as it also lies in compiled models.
    package init(archive: [UInt8]) throws {
        let reader = try KeyedArchiveReader(PropertyListReader.value(from: archive))
        guard let root = reader.topObject(), root.className == "NSManagedObjectModel" else {
            throw UndecodableData("the archive holds no managed object model")
        }
        guard let entities = reader.dictionary(root.fields["NSEntities"]) else {
            throw UndecodableData("the managed object model has no entities")
        }
        let decoder = ModelDecoder(reader: reader)
        self.init(
            entities: try decoder.entities(entities),
            versionIdentifiers: (reader.elements(root.fields["NSVersionIdentifiers"]) ?? [])
                .compactMap(reader.string).sorted(by: Self.inByteOrder)
        )
    }
}
