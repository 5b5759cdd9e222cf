import SafeFiles
import StoreFormat

/// One consumer's end of a queue: what it has not dealt with yet, and its word that it has.
///
/// A name is held by one process at a time. A consumer that is registered for the first time begins at the end of the
/// queue: what was posted before, it has read from the store.
public final class RelayConsumer: Sendable {
    public let name: String
    package let queue: RelayQueue
    private let lock: FileLock
    private let lockName: String

    /// Registers the consumer, or takes up where it left off.
    ///
    /// Throws ``RelayError`` with the code `consumerBusy` while another process has the name.
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
                """
                INSERT OR IGNORE INTO consumer (name, position)
                VALUES (?, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'notice'), 0))
                """,
                [.text(name)]
            )
        }
    }

    deinit {
        // Under the lock the name is still ours; without the file nobody waits for it.
        try? queue.folder.removeFile(lockName)
        lock.release()
    }

    /// The next notices that were not acknowledged, at most `limit`; the same again until they are.
    public func next(limit: Int = 1_000) throws(RelayError) -> RelayBatch {
        let batch = try read(limit: limit)
        if SeededBug.noticeAcknowledgedEarly.isMade { try acknowledge(batch) }
        return batch
    }

    private func read(limit: Int) throws(RelayError) -> RelayBatch {
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

    /// Says that everything in the batch was merged: it will not come again, and may be removed.
    public func acknowledge(_ batch: RelayBatch) throws(RelayError) { try acknowledge(batch, history: nil) }

    /// The same, and that the history of a store was merged up to a transaction.
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

    /// Notes that the history of a store was merged up to a transaction.
    package func acknowledge(history: (store: String, transaction: Int64)) throws(RelayError) {
        try queue.write { try note(history, $0) }
    }

    /// The last transaction of a store's history that was merged; nil when none was, or those of another store.
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

    /// Throws when the last statement found no consumer: what it says is kept nowhere, and the same would come for ever.
    private func insistOnChange(_ connection: StoreConnection) throws {
        guard try connection.value("SELECT changes()") != .integer(0) else {
            throw RelayError.notRegistered(name, path: queue.location.path)
        }
    }

    /// Takes the consumer off the queue's list: nothing is kept for it any more, and there is nothing more to ask of this.
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
