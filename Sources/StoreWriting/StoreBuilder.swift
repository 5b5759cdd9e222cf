package import SafeFiles
package import StoreFormat

/// Makes a new Core Data store from a model: header, tables, indexes, entity numbers, metadata and model cache.
///
/// The shape is that of COREDATA §1.1–1.8, compared with genuine stores in the tests. What Core Data alone could make,
/// the version hashes, are stand-ins and marked as such (``SyntheticVersionHash``), unless the caller has the genuine ones.
package struct StoreBuilder: Sendable {
    /// The choices that a persistent store description would make.
    package struct Options: Sendable {
        package var journalMode = StoreHeader.JournalMode.wal
        package var pageSize = 4096
        package var tracksHistory = false
        /// The genuine version hash of each entity, as a compiled model's folder tells them (``ModelFile``).
        ///
        /// With them an app that has this model takes the store for its own.
        package var versionHashes: [String: [UInt8]] = [:]
        /// Metadata that an application set; these keys win over the ones that the builder writes.
        package var metadata: [String: PropertyListValue] = [:]

        package init() {}
    }

    package let shape: StoreShape
    package let options: Options
    package let metadata: StoreMetadata
    private let modelCache: [UInt8]

    /// Throws when no store can be made for the model; nothing is written yet.
    package init(_ model: ManagedObjectModel, uuid: String, options: Options = Options()) throws(StoreError) {
        shape = try StoreShape(model)
        modelCache = try ModelCacheWriter.bytes(of: model)
        metadata = MetadataWriter.metadata(
            for: model,
            uuid: uuid,
            versionHashes: options.versionHashes,
            additional: options.metadata
        )
        self.options = options
    }

    /// Writes everything but rows into an empty database, in one transaction.
    package func writeSchema(to connection: StoreConnection) throws(StoreError) {
        try connection.execute("BEGIN IMMEDIATE")
        do throws(StoreError) {
            for table in shape.tables { try connection.execute(table.sql) }
            for index in shape.indexes { try connection.execute(index.sql) }
            for trigger in shape.triggers { try connection.execute(trigger.sql) }
            try connection.execute(Self.bookkeepingSQL)
            try writeEntityNumbers(to: connection)
            try connection.run(
                "INSERT INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, ?, ?)",
                [.text(metadata.uuid), .blob(PropertyListWriter.bytes(of: .dictionary(metadata.values)))]
            )
            try connection.run("INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)", [.blob(modelCache)])
            if options.tracksHistory { try HistoryWriter.writeSchema(for: shape.model, to: connection) }
            try connection.execute("COMMIT")
        } catch {
            connection.rollback()
            throw error
        }
    }

    /// Makes the store's file and everything in it but rows; throws when anything of that name is there.
    ///
    /// The connection returned is the only one; a store that others are to use is opened anew once it is closed.
    package func build(at location: StoreLocation, in directory: Directory, mode: UInt32 = 0o644) throws
        -> StoreConnection
    {
        let connection = try NewStoreFile.create(
            location,
            in: directory,
            layout: NewStoreFile.Layout(journalMode: options.journalMode, pageSize: options.pageSize),
            mode: mode
        )
        try writeSchema(to: connection)
        if options.journalMode == .wal { try NewStoreFile.checkpoint(connection) }
        return connection
    }

    /// Where the store keeps what the model describes, once its schema is written.
    package func layout(of connection: StoreConnection) throws -> StoreLayout {
        guard let layout = try StoreLayout(reading: connection, model: shape.model) else {
            throw StoreError(.failed, path: connection.location.path, "the store has no entity numbers")
        }
        return layout
    }

    private func writeEntityNumbers(to connection: StoreConnection) throws(StoreError) {
        for name in shape.numbering.names {
            let parent = shape.model.entities[name]?.superentity.flatMap { shape.numbering.number(of: $0) }
            try connection.run(
                "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, 0)",
                [.integer(shape.number(of: name)), .text(name), .integer(parent ?? 0)]
            )
        }
    }

    private static let bookkeepingSQL = """
        CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
        CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
        CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB);
        """
}
