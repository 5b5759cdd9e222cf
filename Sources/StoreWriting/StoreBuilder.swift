import CSQLite
package import SafeFiles
package import StoreAccess
package import StoreFormat

/// Creates a new Core Data store from a model: header, tables, indexes, entity numbers, metadata and model cache.
///
/// The schema is that of COREDATA §1.1–1.8, compared with genuine stores in the tests. Only Core Data can compute the
/// version hashes. Without the genuine ones from the caller, they are stand-ins and marked as such
/// (``SyntheticVersionHash``).
package struct StoreBuilder: Sendable {
    /// The settings of a persistent store description.
    package struct Options: Sendable {
        package var journalMode = StoreHeader.JournalMode.wal
        package var pageSize = 4096
        package var tracksHistory = false
        /// The genuine version hash of each entity, as read from a compiled model's folder (``ModelFile``).
        ///
        /// With them an app that has this model accepts the store.
        package var versionHashes: [String: [UInt8]] = [:]
        /// Metadata of an application; these keys override the ones that the builder writes.
        package var metadata: [String: PropertyListValue] = [:]

        package init() {}
    }

    package let shape: StoreShape
    package let options: Options
    package let metadata: StoreMetadata
    private let modelCache: [UInt8]

    /// Throws if the model does not permit a store; nothing is written yet.
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

    /// Writes the schema and metadata, but no rows, into an empty database, in one transaction.
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

    /// Creates the store's file with everything except rows; throws if the name exists.
    ///
    /// The returned connection is the only one; to share the store, close it and open it again.
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

    /// The store's layout, once its schema is written.
    package func layout(of connection: StoreConnection) throws -> StoreLayout {
        guard let layout = try StoreLayout(reading: connection, model: shape.model) else {
            throw StoreError(.failed, path: connection.location.path, "the store has no entity numbers")
        }
        return layout
    }

    private func writeEntityNumbers(to connection: StoreConnection) throws(StoreError) {
        for name in shape.numbering.names {
            let parent = shape.model.entitiesByName[name]?.superentity.flatMap { shape.numbering.number(of: $0) }
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

/// Creates the main file of a new store and opens it; no other code creates a store's file.
package enum NewStoreFile {
    /// The layout of the database file.
    package struct Layout: Sendable {
        package var journalMode: StoreHeader.JournalMode
        package var pageSize: Int
        /// True to free pages incrementally, as Core Data does.
        package var vacuumsIncrementally: Bool

        package init(journalMode: StoreHeader.JournalMode, pageSize: Int = 4096, vacuumsIncrementally: Bool = true) {
            self.journalMode = journalMode
            self.pageSize = pageSize
            self.vacuumsIncrementally = vacuumsIncrementally
        }
    }

    /// Throws if a WAL or a journal exists without its store: SQLite would apply it to the new store.
    package static func requireNoSidecars(of location: StoreLocation, in directory: Directory) throws {
        for name in [location.writeAheadLogName, location.journalName]
        where try directory.status(of: name) != nil {
            throw StoreError(
                .incompatible,
                path: location.path,
                "\(name) exists without its store, and SQLite would apply it to the new store"
            )
        }
    }

    /// Creates the file exclusively and opens it; throws if the name exists.
    ///
    /// The caller alone starts checkpoints, so committed data stays in the `-wal`.
    package static func create(
        _ location: StoreLocation,
        in directory: Directory,
        layout: Layout,
        mode: UInt32 = 0o644
    ) throws -> StoreConnection {
        guard layout.pageSize.nonzeroBitCount == 1, (512...65_536).contains(layout.pageSize) else {
            throw StoreError(
                .incompatible,
                path: location.path,
                "the page size \(layout.pageSize) is not a power of two from 512 to 65536"
            )
        }
        try requireNoSidecars(of: location, in: directory)
        try directory.createFile(location.name, mode: mode).close()
        let connection = try StoreConnection(location, access: .privateCopy)
        connection.withHandle { handle in
            // The file is empty and was created here, so it contains no hostile triggers or views.
            for option in [SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW] {
                csqlite_configure(handle, option, 1)
            }
            csqlite_configure(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        }
        try connection.execute(
            """
            PRAGMA page_size = \(layout.pageSize);
            PRAGMA auto_vacuum = \(layout.vacuumsIncrementally ? 2 : 0);
            PRAGMA journal_mode = \(layout.journalMode == .wal ? "WAL" : "DELETE");
            PRAGMA wal_autocheckpoint = 0;
            """
        )
        return connection
    }

    /// Checkpoints the `-wal` into the main file and truncates it.
    package static func checkpoint(_ connection: StoreConnection) throws {
        guard try connection.value("PRAGMA wal_checkpoint(TRUNCATE)") == .integer(0) else {
            throw StoreError(.busy, path: connection.location.path, "the write-ahead log could not be emptied")
        }
    }

    /// Closes a store whose `-wal` is empty, so that no sidecar remains.
    package static func closeClean(_ connection: StoreConnection) throws {
        connection.withHandle { handle in
            _ = csqlite_configure(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
        }
        try connection.close()
    }
}
