package import FoundationEssentials
package import SafeFiles
public import StoreAccess
import StoreFormat
import Synchronization

/// A durable queue of change notices beside a shared store: many writers, many consumers, ordered, at-least-once.
///
/// A consumer acknowledges notices after merging them; unacknowledged notices are returned again. The queue is bounded:
/// notices that the slowest consumer has acknowledged are removed, and a consumer that exceeds the limits must refresh
/// all objects when it returns. The queue is a SQLite file of its own, so each post is one transaction: a process
/// killed while posting has posted fully or not at all.
public final class RelayQueue: BlockingCalls {
    /// Limits how often a growing queue is compacted.
    private static let postsBetweenCompactions: Int64 = 64
    /// SQLite's default for automatic checkpoints.
    private static let framesBeforeCheckpoint = 1000

    /// The queue's file.
    public let location: StoreLocation
    /// The store that the queue lies beside.
    let store: StoreLocation
    let limits: RelayLimits
    let lockTimeout: Duration
    let folder: Directory
    let now: @Sendable () -> Date
    private let state: Mutex<State>

    private struct State {
        let connection: StoreConnection
    }

    /// The name of the queue of the store `name`: `.<name>.relay.sqlite`.
    public static func name(for name: String) -> String { StoreLocation(folder: "", name: name).relayName }

    /// Opens the queue beside a store.
    ///
    /// Creates it if absent, with the store's mode and group.
    public convenience init(
        beside store: StoreLocation,
        limits: RelayLimits = RelayLimits(),
        lockTimeout: Duration = .seconds(20)
    ) throws(RelayError) {
        try self.init(beside: store, limits: limits, lockTimeout: lockTimeout, now: { Date() })
    }

    /// Opens the queue beside a store if it exists; creates nothing.
    public static func existing(
        beside store: StoreLocation,
        limits: RelayLimits = RelayLimits(),
        lockTimeout: Duration = .seconds(20)
    ) throws(RelayError) -> RelayQueue? {
        do {
            guard try Directory.open(path: store.folder).status(of: name(for: store.name)) != nil else { return nil }
        } catch {
            throw RelayError(error, path: store.path)
        }
        return try RelayQueue(beside: store, limits: limits, lockTimeout: lockTimeout)
    }

    package init(
        beside store: StoreLocation,
        limits: RelayLimits = RelayLimits(),
        lockTimeout: Duration = .seconds(20),
        now: @escaping @Sendable () -> Date
    ) throws(RelayError) {
        let location = StoreLocation(folder: store.folder, name: Self.name(for: store.name))
        do {
            let folder = try Directory.open(path: store.folder)
            try NewRelayFile.createIfAbsent(location.name, likeStore: store.name, in: folder)
            try Self.requireRegular(location, in: folder)
            let connection = try StoreConnection(location, access: .liveWriting, lockTimeout: lockTimeout)
            try RelaySchema.prepare(connection, deadline: Deadline(after: lockTimeout))
            state = Mutex(State(connection: connection))
            self.folder = folder
        } catch {
            throw RelayError(error, path: location.path)
        }
        self.location = location
        self.store = store
        self.limits = limits
        self.lockTimeout = lockTimeout
        self.now = now
    }

    /// Throws if one of the queue's files is no regular file: SQLite would report a full disk for a FIFO.
    private static func requireRegular(_ location: StoreLocation, in folder: Directory) throws {
        for name in [location.name] + location.sidecarNames {
            guard let kind = try folder.status(of: name)?.kind, kind != .regular else { continue }
            let error = FileError(
                operation: "open the relay",
                path: folder.path + "/" + name,
                refusal: .wrongKind(kind)
            )
            throw RelayError.notRegular(error)
        }
    }

    /// The UUID of the store; nil when there is none, or when it is not a Core Data store.
    func storeUUID() throws -> String? {
        guard try folder.status(of: store.name) != nil else { return nil }
        return try StoreReader(lockTimeout: lockTimeout)
            .read(store) { try StoreMetadata(reading: $0.connection)?.uuid ?? "" }
    }

    /// Appends a notice to the queue; durable on return.
    ///
    /// Returns its sequence number. A notice whose key is already in the queue is not added again.
    @discardableResult
    public func post(_ notice: ChangeNotice) throws(RelayError) -> Int64 {
        try write { try insert(notice, $0) }
    }

    /// Appends a notice that stays invisible until ``finishPost()``, and blocks other writers until then.
    ///
    /// Call it while holding the store's write lock: notices then have the order of the commits. Use the queue for
    /// nothing else in between.
    package func beginPost(_ notice: ChangeNotice, deadline: Deadline) throws(RelayError) {
        try read { connection in
            try connection.beginWriting(deadline: deadline)
            do {
                try insert(notice, connection)
            } catch {
                connection.rollback()
                throw error
            }
        }
    }

    /// Commits the notice that was begun.
    package func finishPost() throws(RelayError) {
        try read { connection in
            do {
                try connection.commit(deadline: Deadline(after: lockTimeout))
            } catch {
                connection.rollback()
                throw error
            }
            keepLogShort(connection)
        }
    }

    /// Rolls back the notice that was begun.
    package func abandonPost() {
        try? read { $0.rollback() }
    }

    @discardableResult
    func insert(_ notice: ChangeNotice, _ connection: StoreConnection) throws -> Int64 {
        try connection.run(
            "INSERT OR IGNORE INTO notice (writer, number, author, posted, content, count) VALUES (?, ?, ?, ?, ?, ?)",
            [
                .text(notice.key.writer), .integer(notice.key.number),
                notice.author.map { .text($0) } ?? .null, .real(now().timeIntervalSince1970),
                .blob(notice.content.bounded.encoded()), notice.commit.map { .integer($0.stored) } ?? .null,
            ]
        )
        let sequence =
            try connection.value(
                "SELECT sequence FROM notice WHERE writer = ? AND number = ?",
                [.text(notice.key.writer), .integer(notice.key.number)]
            )?
            .integer ?? 0
        if sequence % Self.postsBetweenCompactions == 0 { try compact(connection) }
        return sequence
    }

    /// The sequence number of the last notice ever posted; 0 before the first.
    public func end() throws(RelayError) -> Int64 {
        try read { try $0.value("SELECT seq FROM sqlite_sequence WHERE name = 'notice'")?.integer ?? 0 }
    }

    /// The registered consumers, by name, with their positions.
    public func consumers() throws(RelayError) -> [String: Int64] {
        try read { connection in
            var found: [String: Int64] = [:]
            try connection.forEachRow("SELECT name, position FROM consumer") { row in
                if let name = row.text(0) { found[name] = row.integer(1) }
            }
            return found
        }
    }

    /// The notices after a sequence number, in order, at most `limit`; acknowledges nothing.
    public func notices(after sequence: Int64, limit: Int = 1_000) throws(RelayError) -> [PostedNotice] {
        try read { try Self.notices(after: sequence, limit: limit, $0) }
    }

    static func notices(
        after sequence: Int64,
        limit: Int,
        _ connection: StoreConnection
    ) throws -> [PostedNotice] {
        var notices: [PostedNotice] = []
        try connection.forEachRow(
            """
            SELECT sequence, writer, number, author, posted, content, count FROM notice WHERE sequence > ?
            ORDER BY sequence LIMIT ?
            """,
            [.integer(sequence), .integer(Int64(max(1, limit)))]
        ) { row in
            notices.append(
                PostedNotice(
                    sequence: row.integer(0),
                    posted: Date(timeIntervalSince1970: row.real(4)),
                    notice: ChangeNotice(
                        key: .init(writer: row.text(1) ?? "", number: row.integer(2)),
                        author: row.text(3),
                        content: .init(decoding: row.withBytes(5) { [UInt8]($0) }),
                        commit: row.isNull(6) ? nil : CommitCount(stored: row.integer(6))
                    )
                )
            )
        }
        return notices
    }

    /// Removes notices that every consumer has acknowledged, and notices beyond the limits.
    func compact(_ connection: StoreConnection) throws {
        let last = try connection.value("SELECT seq FROM sqlite_sequence WHERE name = 'notice'")?.integer ?? 0
        let tooOld = now().timeIntervalSince1970 - limits.longestDelay / .seconds(1)
        let isOverdue =
            try connection.value(
                "SELECT 1 WHERE (SELECT posted FROM notice ORDER BY sequence LIMIT 1) < ?",
                [.real(tooOld)]
            ) != nil
        if isOverdue {
            try connection.run(
                """
                UPDATE consumer SET needs_refresh = 1, position = ?
                WHERE position < (SELECT max(sequence) FROM notice WHERE posted < ?)
                """,
                [.integer(last), .real(tooOld)]
            )
        }
        let (cut, overflows) = last.subtractingReportingOverflow(limits.mostNotices)
        if !overflows, cut > 0 {
            try connection.run(
                "UPDATE consumer SET needs_refresh = 1, position = ? WHERE position < ?",
                [.integer(last), .integer(cut)]
            )
            try connection.run("DELETE FROM notice WHERE sequence <= ?", [.integer(cut)])
        }
        try connection.run(
            "DELETE FROM notice WHERE sequence <= (SELECT min(position) FROM consumer)",
            []
        )
    }

    func read<R: Sendable>(_ body: (StoreConnection) throws -> R) throws(RelayError) -> R {
        do {
            return try state.withLock { state in try body(state.connection) }
        } catch {
            throw RelayError(error, path: location.path)
        }
    }

    /// Runs `body` in its own transaction.
    func write<R: Sendable>(_ body: (StoreConnection) throws -> R) throws(RelayError) -> R {
        let deadline = Deadline(after: lockTimeout)
        return try read { connection in
            let result = try connection.inTransaction(until: deadline) { try body(connection) }
            keepLogShort(connection)
            return result
        }
    }

    /// Checkpoints a long WAL passively.
    ///
    /// SQLite's automatic checkpoint is off: before 3.51.3 a writer that restarts the WAL during a checkpoint can
    /// lose commits.
    private func keepLogShort(_ connection: StoreConnection) {
        guard let frames = try? connection.framesInLog(), frames > Self.framesBeforeCheckpoint else { return }
        try? connection.checkpointPassively()
    }
}

extension RelayQueue {
    /// How much was copied from another queue.
    package struct Carried: Sendable, Hashable {
        package var notices = 0
        package var consumers = 0
    }

    /// Copies the pending notices, in order, and the consumers' positions from the queue of the store that this queue's
    /// store is a copy of.
    ///
    /// In an unused queue, sequence numbers and positions stay the same. In a used queue, notices are appended and an
    /// unknown consumer starts at the first notice, so it may receive duplicates. A repeated call copies only what was
    /// posted since.
    ///
    /// `readdressing` is for a store that received the other store's changes by a merge. It translates each notice, and
    /// the copied consumers refresh all objects because their history position in the other store is meaningless here.
    package func carry(
        from old: StoreLocation,
        readdressing: (@Sendable (ChangeNotice.Content) -> ChangeNotice.Content)? = nil
    ) throws(RelayError) -> Carried {
        let source = StoreLocation(folder: old.folder, name: Self.name(for: old.name))
        do {
            let folder = try Directory.open(path: source.folder)
            // The inode distinguishes a new file of the same name, whose sequence numbers start again.
            let inode = try folder.status(of: source.name).map { "\($0.identity.inode)" } ?? ""
            let name = "relay\n" + folder.path + "/" + source.name + "\n" + inode
            return try StoreReader(lockTimeout: lockTimeout)
                .withView(of: source) { view in
                    guard try RelaySchema.isPrepared(view.connection) else { return Carried() }
                    return try write {
                        try Self.carry(from: view.connection, named: name, to: $0, readdressing)
                    }
                }
        } catch {
            throw RelayError(error, path: source.path)
        }
    }

    private static func carry(
        from source: StoreConnection,
        named name: String,
        to target: StoreConnection,
        _ readdressing: ((ChangeNotice.Content) -> ChangeNotice.Content)?
    ) throws -> Carried {
        let last = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'notice'"
        let isUnused = try target.value("SELECT (\(last)) = 0 AND NOT EXISTS (SELECT 1 FROM consumer)") == .integer(1)
        let beginning =
            try target.value("SELECT coalesce((SELECT min(sequence) - 1 FROM notice), (\(last)))") ?? .integer(0)
        let end = try source.value(last) ?? .integer(0)
        let done =
            try target.value(
                "SELECT sequence FROM import WHERE source = ? AND sequence <= ?",
                [.text(name), end]
            ) ?? .integer(0)
        var carried = Carried()
        try source.forEachRow(
            "SELECT sequence, writer, number, author, posted, content FROM notice WHERE sequence > ? ORDER BY sequence",
            [done]
        ) { row in
            var content = row.value(5)
            if let readdressing {
                let notice = row.withBytes(5) { ChangeNotice.Content(decoding: [UInt8]($0)) }
                content = .blob(try readdressing(notice).encoded())
            }
            // Drop the commit count: it counts commits of the other store.
            try target.run(
                """
                INSERT OR IGNORE INTO notice (sequence, writer, number, author, posted, content)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
                (isUnused ? [row.value(0)] : [.null]) + (1..<5).map { row.value($0) } + [content]
            )
            carried.notices += try target.value("SELECT changes()") == .integer(1) ? 1 : 0
        }
        // In the same transaction, so that notices that are merged and removed here are not copied again.
        try target.run(
            "INSERT OR REPLACE INTO import (source, entries, digest, sequence) VALUES (?, 0, '', ?)",
            [.text(name), end]
        )
        if isUnused {
            try target.run("DELETE FROM sqlite_sequence WHERE name = 'notice'", [])
            try target.run("INSERT INTO sqlite_sequence (name, seq) VALUES ('notice', ?)", [end])
        }
        try source.forEachRow("SELECT name, position, needs_refresh, store, history FROM consumer") { row in
            try target.run(
                "INSERT OR IGNORE INTO consumer (name, position, needs_refresh, store, history) VALUES (?, ?, ?, ?, ?)",
                [row.value(0), isUnused ? row.value(1) : beginning]
                    + (readdressing == nil ? (2..<5).map { row.value($0) } : [.integer(1), .null, .null])
            )
            carried.consumers += try target.value("SELECT changes()") == .integer(1) ? 1 : 0
            try target.run(
                "UPDATE consumer SET needs_refresh = 1 WHERE name = ? AND needs_refresh < ?",
                [row.value(0), row.value(2)]
            )
        }
        return carried
    }
}
