import CSQLite
package import SafeFiles
package import StoreFormat

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
