import SafeFiles

extension StoreConnection {
    /// Folds the write-ahead log into the main file and leaves rollback-journal mode behind, without a sidecar.
    ///
    /// Only for a store of which this connection is the sole opener: a checkpoint under other writers is not safe with
    /// the SQLite releases before 3.51.3.
    package func foldLogIn() throws {
        guard try value("PRAGMA journal_mode=DELETE")?.text == "delete" else {
            throw StoreError(.busy, path: location.path, "another process has the store open")
        }
        // SQLite does not say that it could not remove the log.
        guard try Directory.openIfPresent(path: location.folder)?.status(of: location.writeAheadLogName) == nil else {
            throw StoreError(.notWritable, path: location.path, "its write-ahead log cannot be removed")
        }
    }
}

/// A program's own store, which it keeps open for as long as it runs.
extension StoreConnection {
    /// How many frames of the write-ahead log count; 0 in every other journal mode, and while somebody changes that.
    package func framesInLog() throws -> Int {
        // Asking for the log's index where there is none would make one.
        guard try value("PRAGMA journal_mode")?.text == "wal" else { return 0 }
        return try logExtent()?.frames ?? 0
    }

    /// Copies the log into the main file as far as no reader needs it, and waits for nobody.
    ///
    /// This connection holds the write lock meanwhile, and another does the work: with SQLite before 3.51.3 a writer that
    /// begins the log anew during a checkpoint can make later commits vanish. Nothing happens when the lock is not to be
    /// had at once, or while somebody in this process copies the store (``LogPin``).
    package func checkpointPassively() throws {
        try LogPin.unlessHeld(on: location) {
            try beginWriting(deadline: Deadline(after: .zero))
            defer { rollback() }
            let other = try StoreConnection(location, access: .liveWriting, lockTimeout: .zero)
            _ = try other.value("PRAGMA wal_checkpoint(PASSIVE)")
            try other.close()
        }
    }
}
