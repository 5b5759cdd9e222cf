internal import CSQLite

extension StoreConnection.Access {
    /// The query of the URI; its `mode` never creates a file.
    var uriParameters: String {
        switch self {
        case .immutable: "mode=ro&immutable=1"
        case .liveReading: "mode=ro"
        case .privateCopy, .liveWriting: "mode=rw"
        }
    }

    var isReadOnly: Bool { self == .immutable || self == .liveReading }

    /// None of these reads the file, so the locking mode is set before the first lock is acquired.
    var pragmas: [String] {
        switch self {
        case .immutable: ["mmap_size=0", "cell_size_check=1"]
        case .privateCopy: ["locking_mode=EXCLUSIVE", "mmap_size=0", "cell_size_check=1"]
        case .liveReading: ["mmap_size=0", "cell_size_check=1", "wal_autocheckpoint=0"]
        case .liveWriting: ["mmap_size=0", "wal_autocheckpoint=0", "synchronous=EXTRA"]
        }
    }

    /// Follows "Defense Against The Dark Arts" of SQLite's documentation.
    func harden(_ connection: OpaquePointer) {
        csqlite_configure(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        csqlite_configure(connection, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0)
        csqlite_configure(connection, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0)
        // When this package reads, an unknown name must be an error, not a text.
        let takesNamesForTexts: Int32 = self == .liveWriting ? 1 : 0
        csqlite_configure(connection, SQLITE_DBCONFIG_DQS_DML, takesNamesForTexts)
        csqlite_configure(connection, SQLITE_DBCONFIG_DQS_DDL, takesNamesForTexts)
        sqlite3_limit(connection, SQLITE_LIMIT_WORKER_THREADS, 0)
        sqlite3_limit(connection, SQLITE_LIMIT_TRIGGER_DEPTH, 100)
        switch self {
        case .privateCopy: break
        case .immutable, .liveReading, .liveWriting:
            csqlite_configure(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        }
        guard self != .liveWriting else { return }
        csqlite_configure(connection, SQLITE_DBCONFIG_DEFENSIVE, 1)
        csqlite_configure(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        csqlite_configure(connection, SQLITE_DBCONFIG_ENABLE_VIEW, 0)
        sqlite3_limit(connection, SQLITE_LIMIT_ATTACHED, 0)
        sqlite3_limit(connection, SQLITE_LIMIT_SQL_LENGTH, 1_000_000)
    }
}
