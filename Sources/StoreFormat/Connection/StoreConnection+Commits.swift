internal import CSQLite

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
