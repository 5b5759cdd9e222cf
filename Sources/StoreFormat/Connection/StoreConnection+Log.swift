import SafeFiles

extension StoreConnection {
    /// Checkpoints the write-ahead log, and switches to rollback-journal mode, without a sidecar.
    ///
    /// A program in journal mode TRUNCATE or PERSIST leaves a journal without content. SQLite deletes it only when a
    /// connection switches from one of these modes, and then while it holds the write lock.
    /// Only for a store that no other connection has open: a checkpoint with concurrent writers is not safe with the
    /// SQLite releases before 3.51.3.
    package func foldLogIn() throws {
        guard try value("PRAGMA journal_mode=DELETE")?.text == "delete" else {
            throw StoreError(.busy, path: location.path, "another process has the store open")
        }
        try execute("PRAGMA journal_mode=PERSIST; PRAGMA journal_mode=DELETE")
        // SQLite does not report a failure to remove the log.
        guard try Directory.openIfPresent(path: location.folder)?.status(of: location.writeAheadLogName) == nil else {
            throw StoreError(.notWritable, path: location.path, "its write-ahead log cannot be removed")
        }
    }
}

/// For a program's own store, which it keeps open while it runs.
extension StoreConnection {
    /// The number of valid frames in the write-ahead log; 0 in every other journal mode, and while the mode changes.
    package func framesInLog() throws -> Int {
        // Reading a missing WAL index would create it.
        guard try value("PRAGMA journal_mode")?.text == "wal" else { return 0 }
        return try logExtent()?.frames ?? 0
    }

    /// Checkpoints the log as far as no reader needs it, without waiting.
    ///
    /// This connection holds the write lock while a second one checkpoints: with SQLite before 3.51.3 a writer that
    /// restarts the log during a checkpoint can lose later commits. Does nothing if the lock is not free, or while this
    /// process copies the store (``LogPin``).
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
