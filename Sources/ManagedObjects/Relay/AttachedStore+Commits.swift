internal import ChangeRelay
internal import StoreFormat
internal import Synchronization

/// How far a store has come, whoever brought it there.
struct CommitState: Sendable {
    /// Nil when it cannot be told.
    var count: CommitCount?
    /// The number of the last transaction in history; nil where there is none.
    var lastTransaction: Int64?
}

extension AttachedStore {
    /// How many commits there were, and the last transaction of history among them.
    func commitState() throws -> CommitState {
        try read { _, connection in
            var state = CommitState()
            // The count of a log is not part of what a transaction holds on to.
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

    /// What changes when others commit, and by nothing that this coordinator does; nil while a save of its own is under way.
    func foreignVersion() -> StoreVersion? {
        let sql = "PRAGMA data_version"
        if readOnlyReason != nil {
            return watching.withLock { watching in
                let open = watching ?? (try? StoreConnection(location, access: .liveReading, lockTimeout: lockTimeout))
                watching = open
                return (try? open?.value(sql)?.integer).map { StoreVersion($0) }
            }
        }
        let version = writing.withLockIfAvailable { state in try? openToWrite(&state).value(sql)?.integer }
        return version.flatMap { $0 }.map { StoreVersion($0) }
    }

    /// How many transactions history has after one number and up to another.
    func transactions(after first: Int64, through last: Int64) throws -> Int {
        guard contents.hasHistory else { return 0 }
        return try read { _, connection in
            let sql = "SELECT count(*) FROM ATRANSACTION WHERE Z_PK > ? AND Z_PK <= ?"
            return Int(clamping: try connection.value(sql, [.integer(first), .integer(last)])?.integer ?? 0)
        }
    }

    /// Ends the reading of transactions when there are enough of them.
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
            // The next call goes on from here.
        }
        return result
    }

    /// Tells of others' saves to this store, and never of this coordinator's own.
    func remoteChangeNotification() throws -> RemoteChangeNotification {
        try RemoteChangeNotification(beside: location) { [weak self] in self?.foreignVersion() }
    }
}
