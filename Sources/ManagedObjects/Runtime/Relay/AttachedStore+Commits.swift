internal import ChangeRelay
internal import StoreAccess
internal import Synchronization

/// The position of a store, including commits of other processes.
struct CommitState: Sendable {
    /// Nil when unknown.
    var count: CommitCount?
    /// The number of the last transaction in history; nil without history.
    var lastTransaction: Int64?
}

extension AttachedStore {
    /// The number of commits, and the last history transaction among them.
    func commitState() throws -> CommitState {
        try read { _, connection in
            var state = CommitState()
            // A read transaction does not isolate the WAL's commit count: retry until it is the same before and after.
            for _ in 0..<100 {
                let before = try connection.commitCount()
                try connection.beginReading()
                defer { connection.rollback() }
                state.lastTransaction = contents.hasHistory ? try lastTransaction(connection) : nil
                state.count = try connection.commitCount()
                if state.count == before || state.count?.isOfLog == false { return state }
            }
            state.count = nil
            return state
        }
    }

    /// A value that changes when another process commits, never by this coordinator's saves.
    ///
    /// Nil while one of its saves is under way, and while the store is suspended.
    func foreignVersion() -> StoreVersion? {
        let sql = "PRAGMA data_version"
        if readOnlyReason != nil {
            return watching.withLock { watching in
                guard !suspension.isSuspended else { return nil }
                let open = watching ?? (try? openToRead())
                watching = open
                let generation = self.generation.load(ordering: .relaxed)
                return (try? open?.value(sql)?.integer).map { StoreVersion(generation, $0) }
            }
        }
        let version = writing.withLockIfAvailable { state -> StoreVersion? in
            let generation = self.generation.load(ordering: .relaxed)
            return (try? openToWrite(&state).value(sql)?.integer).map { StoreVersion(generation, $0) }
        }
        return version.flatMap { $0 }
    }

    /// The number of history transactions after `first` up to `last`.
    func transactions(after first: Int64, through last: Int64) throws -> Int {
        guard contents.hasHistory else { return 0 }
        return try read { _, connection in
            let sql = "SELECT count(*) FROM ATRANSACTION WHERE Z_PK > ? AND Z_PK <= ?"
            return Int(clamping: try connection.value(sql, [.integer(first), .integer(last)])?.integer ?? 0)
        }
    }

    /// Stops reading at the limit.
    private struct Enough: Error {}

    /// The first transactions after a number.
    func transactions(after number: Int64, limit: Int) throws -> [PersistentHistoryTransaction] {
        var result: [PersistentHistoryTransaction] = []
        do {
            try forEachTransaction(after: number, by: .everybody) { transaction in
                result.append(transaction)
                if result.count == limit { throw Enough() }
            }
        } catch is Enough {
            // The limit is reached; the next call continues after it.
        }
        return result
    }
}
