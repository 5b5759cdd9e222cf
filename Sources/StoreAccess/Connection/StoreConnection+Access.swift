internal import CSQLite

extension StoreConnection {
    /// The intended access to the store, and the possible access of other processes.
    package enum Access: Sendable {
        /// In place and read-only, without changing any file.
        ///
        /// Correct only without a non-empty log or journal.
        case immutable
        /// In place and read-only, including a log, without a lock and without changing any file.
        ///
        /// Correct only without a journal, and while nothing is committed.
        case unlocked
        /// A private file: read and written, never with a `-shm`.
        case privateCopy
        /// A private file that is removed after its use.
        ///
        /// As ``privateCopy``, but only the rollback of a journal is flushed, and closing it does not checkpoint its log.
        case discardedCopy
        /// A store that other processes may have open, read in place.
        case liveReading
        /// A store that other processes may have open, read in place by a program that may write to it.
        ///
        /// As ``liveReading``, but a transaction that a killed writer left half written is rolled back.
        case liveRecovering
        /// A store that other processes may have open, read and written in place.
        case liveWriting
    }
}

extension StoreConnection.Access {
    /// The query of the URI; its `mode` never creates a file.
    var uriParameters: String {
        switch self {
        case .immutable: "mode=ro&immutable=1"
        case .unlocked: "mode=ro&\(CSQLITE_UNLOCKED)=1"
        case .liveReading: "mode=ro"
        case .privateCopy, .discardedCopy, .liveRecovering, .liveWriting: "mode=rw"
        }
    }

    var isReadOnly: Bool { self == .immutable || self == .unlocked || self == .liveReading }

    /// True if no other process can have the file open.
    package var isPrivate: Bool { self == .privateCopy || self == .discardedCopy }

    /// Only `synchronous` reads the file, so the locking mode is set before the first lock is acquired.
    var pragmas: [String] {
        switch self {
        case .immutable: ["mmap_size=0", "cell_size_check=1"]
        case .unlocked, .privateCopy: ["locking_mode=EXCLUSIVE", "mmap_size=0", "cell_size_check=1"]
        case .discardedCopy:
            ["locking_mode=EXCLUSIVE", "mmap_size=0", "cell_size_check=1", "synchronous=OFF"]
        case .liveReading: ["mmap_size=0", "cell_size_check=1", "wal_autocheckpoint=0"]
        case .liveRecovering: ["mmap_size=0", "cell_size_check=1", "wal_autocheckpoint=0", "query_only=1"]
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
        case .immutable, .unlocked, .discardedCopy, .liveReading, .liveRecovering, .liveWriting:
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
