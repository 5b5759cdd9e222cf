internal import CSQLite
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

extension StoreConnection {
    /// Keeps the write-ahead log on disk after the last connection is closed, for readers that cannot create one.
    package func keepLog() throws(StoreError) {
        var flag: Int32 = 1
        let code = sqlite3_file_control(try openHandle(), "main", SQLITE_FCNTL_PERSIST_WAL, &flag)
        guard code == SQLITE_OK else {
            throw StoreError(.failed, path: location.path, "cannot keep the write-ahead log on disk")
        }
    }

    /// True if the write-ahead log stays on disk after the last connection is closed.
    package func keepsLog() throws(StoreError) -> Bool {
        // A negative value only reads the setting.
        var flag: Int32 = -1
        let code = sqlite3_file_control(try openHandle(), "main", SQLITE_FCNTL_PERSIST_WAL, &flag)
        return code == SQLITE_OK && flag == 1
    }
}

extension StoreConnection {
    /// The offset of the main file's commit count in rollback-journal mode ("Database File Format", section 1.3.6).
    private static let offsetOfCount: Int64 = 24

    /// The number of commits so far; nil if it is unknown, which does not mean zero.
    ///
    /// Call it inside a transaction: its own commit is not counted yet, and no other commit can come in between.
    package func commitCount() throws -> CommitCount? {
        if try value("PRAGMA journal_mode")?.text == "wal" {
            var number: UInt32 = 0
            // A writer changes the index header only briefly.
            for _ in 0..<1000 {
                let code = csqlite_log_commits(try openHandle(), &number)
                if code == SQLITE_OK { return CommitCount(isOfLog: true, number: number) }
                guard code == SQLITE_BUSY else { return nil }
            }
            return nil
        }
        var bytes: [UInt8] = [0, 0, 0, 0]
        let isWhole = try bytes.withUnsafeMutableBytes { try read(.main, into: $0, at: Self.offsetOfCount) }
        guard isWhole else { return nil }
        return CommitCount(isOfLog: false, number: bytes.reduce(0) { $0 << 8 | UInt32($1) })
    }

    /// The number of rows that this connection has inserted, updated or deleted so far.
    package func rowsChanged() throws -> Int64 { sqlite3_total_changes64(try openHandle()) }
}

/// The number of commits to a store by all processes: while any process has it open, each commit adds one.
///
/// Two counts can be compared only if the journal mode is unchanged, and if one connection was open at both: the count
/// of a write-ahead log restarts with its index.
package struct CommitCount: Hashable, Sendable {
    /// True for the count in the WAL index, false for that in the main file.
    package let isOfLog: Bool
    package let number: UInt32

    package init(isOfLog: Bool, number: UInt32) {
        self.isOfLog = isOfLog
        self.number = number
    }

    /// Decodes a count stored as one number.
    package init(stored: Int64) {
        self.init(isOfLog: stored >> 32 & 1 == 1, number: UInt32(truncatingIfNeeded: stored))
    }

    package var stored: Int64 { (isOfLog ? 1 << 32 : 0) | Int64(number) }

    /// The count after one more commit.
    package var next: CommitCount { CommitCount(isOfLog: isOfLog, number: number &+ 1) }
}
