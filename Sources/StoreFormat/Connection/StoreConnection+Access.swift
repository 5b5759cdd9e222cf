internal import CSQLite
internal import GRDB

extension StoreConnection.Access {
    /// The query of the URI: `mode` says that no file is ever created.
    var uriParameters: String {
        switch self {
        case .immutable: "mode=ro&immutable=1"
        case .liveReading: "mode=ro"
        case .privateCopy, .liveWriting: "mode=rw"
        }
    }

    private var isReadOnly: Bool { self == .immutable || self == .liveReading }

    /// What GRDB is told; the connection's own settings are made before its first read.
    func configuration(wait: BusyWait, budget: StepBudget) -> Configuration {
        var configuration = Configuration()
        configuration.readonly = isReadOnly
        configuration.foreignKeysEnabled = false
        configuration.allowsUnsafeTransactions = true
        // In our own reading a name that does not exist must be an error, not a text.
        configuration.acceptsDoubleQuotedStringLiterals = self == .liveWriting
        configuration.busyMode = .callback { _ in wait.step() }
        configuration.prepareDatabase { database in
            guard let connection = database.sqliteConnection else { return }
            // GRDB watches commits and what statements touch. We step our own statements, outside its queue.
            sqlite3_commit_hook(connection, nil, nil)
            sqlite3_rollback_hook(connection, nil, nil)
            sqlite3_set_authorizer(connection, nil, nil)
            harden(connection)
            for pragma in pragmas {
                let code = sqlite3_exec(connection, "PRAGMA " + pragma, nil, nil, nil)
                guard code == SQLITE_OK else {
                    throw DatabaseError(
                        resultCode: ResultCode(rawValue: code),
                        message: String(cString: sqlite3_errmsg(connection))
                    )
                }
            }
            if self != .liveWriting { budget.allow(forBytes: csqlite_file_size(connection, CSQLiteFileMain)) }
            budget.install(on: connection)
        }
        return configuration
    }

    /// None of these reads the file, so that the locking mode is set before the first lock is taken.
    private var pragmas: [String] {
        switch self {
        case .immutable: ["mmap_size=0", "cell_size_check=1"]
        case .privateCopy: ["locking_mode=EXCLUSIVE", "mmap_size=0", "cell_size_check=1"]
        case .liveReading: ["mmap_size=0", "cell_size_check=1", "wal_autocheckpoint=0"]
        case .liveWriting: ["mmap_size=0", "wal_autocheckpoint=0", "synchronous=EXTRA"]
        }
    }

    /// Follows "Defense Against The Dark Arts" of SQLite's documentation.
    private func harden(_ connection: OpaquePointer) {
        csqlite_configure(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        csqlite_configure(connection, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0)
        csqlite_configure(connection, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0)
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
