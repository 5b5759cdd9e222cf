import CSQLite
package import SafeFiles
package import StoreFormat

/// Makes the main file of a new store and opens it; the only place where a store's file comes into being.
package enum NewStoreFile {
    /// How the database is laid out.
    package struct Layout: Sendable {
        package var journalMode: StoreHeader.JournalMode
        package var pageSize: Int
        /// True to free pages step by step, as Core Data asks for.
        package var vacuumsIncrementally: Bool

        package init(journalMode: StoreHeader.JournalMode, pageSize: Int = 4096, vacuumsIncrementally: Bool = true) {
            self.journalMode = journalMode
            self.pageSize = pageSize
            self.vacuumsIncrementally = vacuumsIncrementally
        }
    }

    /// Throws where a log or a journal waits for a store that is not there: SQLite would take it for the new store's own.
    package static func requireNoSidecars(of location: StoreLocation, in directory: Directory) throws {
        for name in [location.writeAheadLogName, location.journalName]
        where try directory.status(of: name) != nil {
            throw StoreError(
                .incompatible,
                path: location.path,
                "\(name) lies where the store is to be made, and SQLite would take it for the store's own"
            )
        }
    }

    /// Creates the file exclusively and opens it; throws when anything of that name is there.
    ///
    /// Nothing is ever checkpointed unless the caller asks for it, so what is committed stays in the `-wal`.
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
            // The file is empty and ours, so nothing hostile can be in it: triggers and views may be made and fire.
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

    /// Moves everything from the `-wal` into the main file and empties it.
    package static func checkpoint(_ connection: StoreConnection) throws {
        guard try connection.value("PRAGMA wal_checkpoint(TRUNCATE)") == .integer(0) else {
            throw StoreError(.busy, path: connection.location.path, "the write-ahead log could not be emptied")
        }
    }

    /// Closes a store whose `-wal` is empty so that no sidecar stays behind.
    package static func closeClean(_ connection: StoreConnection) throws {
        connection.withHandle { handle in
            _ = csqlite_configure(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
        }
        try connection.close()
    }
}
