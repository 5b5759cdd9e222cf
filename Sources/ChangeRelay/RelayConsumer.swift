import SafeFiles
public import StoreAccess

/// One consumer of a queue: reads the notices that are pending for it, and acknowledges them.
///
/// One process at a time may use a name. A newly registered consumer starts at the end of the queue, because it has
/// just read the store, or before imported notices that no consumer has acknowledged: they are addressed to it.
public final class RelayConsumer: BlockingCalls {
    public let name: String
    package let queue: RelayQueue
    private let lock: FileLock
    private let lockName: String

    /// Registers the consumer, or resumes at its last position.
    ///
    /// Throws ``RelayError`` with the code `consumerBusy` while another process uses the name.
    public init(_ name: String, of queue: RelayQueue) throws(RelayError) {
        guard Self.isName(name) else { throw .badName(name, path: queue.location.path) }
        lockName = queue.location.name + ".\(name).lock"
        do {
            guard let lock = try FileLock.acquire(lockName, in: queue.folder, deadline: Deadline(after: .zero)) else {
                throw RelayError.consumerBusy(name, path: queue.location.path)
            }
            self.lock = lock
        } catch {
            throw RelayError(error, path: queue.location.path)
        }
        self.name = name
        self.queue = queue
        try queue.write { connection in
            try connection.run(
                "INSERT OR IGNORE INTO consumer (name, position) VALUES (?, ?)",
                [.text(name), .integer(try RelayQueue.beginning(connection))]
            )
        }
    }

    deinit {
        // Remove the file before releasing the lock: afterwards it may belong to the next holder.
        try? queue.folder.removeFile(lockName)
        lock.release()
    }

    /// Returns the next unacknowledged notices, at most `limit`.
    ///
    /// Returns the same notices until they are acknowledged.
    public func next(limit: Int = 1_000) throws(RelayError) -> RelayBatch {
        try queue.read { connection in
            try connection.inReadTransaction {
                var found: (position: Int64, needsRefresh: Bool)?
                try connection.forEachRow(
                    "SELECT position, needs_refresh FROM consumer WHERE name = ?",
                    [.text(name)]
                ) { row in
                    found = (row.integer(0), row.integer(1) != 0)
                }
                guard let found else { throw RelayError.notRegistered(name, path: queue.location.path) }
                let notices = try RelayQueue.notices(after: found.position, limit: limit, connection)
                return RelayBatch(
                    needsFullRefresh: found.needsRefresh,
                    notices: notices,
                    position: notices.last?.sequence ?? found.position
                )
            }
        }
    }

    /// Records that the batch was merged.
    ///
    /// Its notices are not returned again and may be removed.
    public func acknowledge(_ batch: RelayBatch) throws(RelayError) { try acknowledge(batch, history: nil) }

    /// Acknowledges the batch, and records that the history of a store was merged up to a transaction.
    package func acknowledge(
        _ batch: RelayBatch,
        history: (store: String, transaction: Int64)?
    ) throws(RelayError) {
        try queue.write { connection in
            try connection.run(
                """
                UPDATE consumer SET position = max(position, ?),
                    needs_refresh = CASE WHEN ? AND position <= ? THEN 0 ELSE needs_refresh END
                WHERE name = ?
                """,
                [
                    .integer(batch.position), .integer(batch.needsFullRefresh ? 1 : 0), .integer(batch.position),
                    .text(name),
                ]
            )
            try insistOnChange(connection)
            if let history { try note(history, connection) }
            try queue.compact(connection)
        }
    }

    /// Records that the history of a store was merged up to a transaction.
    package func acknowledge(history: (store: String, transaction: Int64)) throws(RelayError) {
        try queue.write { try note(history, $0) }
    }

    /// The last merged transaction of a store's history; nil when none was merged, or only those of another store.
    package func history(of store: String) throws(RelayError) -> Int64? {
        try queue.read { connection in
            try connection.value(
                "SELECT history FROM consumer WHERE name = ? AND store = ?",
                [.text(name), .text(store)]
            )?
            .integer
        }
    }

    private func note(_ history: (store: String, transaction: Int64), _ connection: StoreConnection) throws {
        try connection.run(
            "UPDATE consumer SET store = ?, history = ? WHERE name = ?",
            [.text(history.store), .integer(history.transaction), .text(name)]
        )
        try insistOnChange(connection)
    }

    /// Throws when the last statement found no consumer row: the position was not saved, and the same batch would
    /// repeat.
    private func insistOnChange(_ connection: StoreConnection) throws {
        guard try connection.value("SELECT changes()") != .integer(0) else {
            throw RelayError.notRegistered(name, path: queue.location.path)
        }
    }

    /// Removes the consumer from the queue, which then keeps no notices for it.
    ///
    /// Every later call fails.
    public func unregister() throws(RelayError) {
        try queue.write { connection in
            try connection.run("DELETE FROM consumer WHERE name = ?", [.text(name)])
            try queue.compact(connection)
        }
    }

    private static func isName(_ name: String) -> Bool {
        let isPlain = name.utf8.allSatisfy {
            (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || [45, 46, 95].contains($0)
        }
        return (1...64).contains(name.utf8.count) && isPlain && !name.hasPrefix(".") && !name.hasPrefix("-")
    }
}
