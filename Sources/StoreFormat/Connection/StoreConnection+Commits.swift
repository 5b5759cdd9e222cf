internal import CSQLite

extension StoreConnection {
    /// Where the main file's header counts commits in rollback-journal mode ("Database File Format", section 1.3.6).
    private static let offsetOfCount: Int64 = 24

    /// How many commits there were so far; nil when it could not be told, which is no reason to think that there were none.
    ///
    /// To be called inside a transaction: one that writes is not counted yet, and nobody else's comes in between.
    package func commitCount() throws -> CommitCount? {
        if try value("PRAGMA journal_mode")?.text == "wal" {
            var number: UInt32 = 0
            // The header of the index is being changed for moments only.
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

    /// How many rows this connection has inserted, updated or deleted so far.
    package func rowsChanged() throws -> Int64 { sqlite3_total_changes64(try openHandle()) }
}
