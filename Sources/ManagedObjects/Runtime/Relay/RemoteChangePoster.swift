internal import ChangeRelay
internal import FoundationEssentials
internal import SafeFiles
internal import StoreAccess
internal import StoreFormat
internal import Synchronization

/// Notifies other processes of the saves to one store, in the order of the commits.
///
/// A notice is written while the store's write lock is held, becomes visible after the commit, and exists before the
/// save returns. A failure here fails no save: other processes detect a commit without a notice and refresh all
/// objects.
final class RemoteChangePoster: Sendable {
    private struct State {
        var queue: RelayQueue?
        var wake: RemoteChangeNotification?
        var number: Int64 = 0
        var isBegun = false
        /// True once there is a commit to post, even if its notice could not be written.
        var isDue = false
        var failure: RelayError?
        var transactions: Set<Int64> = []
    }

    /// The maximum wait for the relay's lock, because the store's own lock is held meanwhile.
    ///
    /// After one timeout there is no second wait; other processes detect the commit without a notice.
    private static let patience = Duration.seconds(2)
    private static let mostTransactions = 100_000

    private let location: StoreLocation
    /// The unique writer name of this coordinator's notices.
    let writer = UUID().uuidString
    private let state = Mutex(State())

    init(beside location: StoreLocation) { self.location = location }

    /// Why the last save could not be posted; nil if it was.
    var failure: RelayError? { state.withLock(\.failure) }

    /// Writes the notice of a save that is about to be committed.
    func begin(_ content: ChangeNotice.Content, author: String?, commit: CommitCount?) {
        state.withLock { state in
            state.isDue = true
            state.number += 1
            let key = ChangeNotice.Key(writer: writer, number: state.number)
            let notice = ChangeNotice(key: key, author: author, content: content, commit: commit)
            let patience = state.failure?.code == .busy ? .zero : Self.patience
            do throws(RelayError) {
                let queue: RelayQueue
                if let open = state.queue {
                    queue = open
                } else {
                    queue = try RelayQueue(beside: location, lockTimeout: Self.patience)
                    state.queue = queue
                }
                try queue.beginPost(notice, deadline: Deadline(after: patience))
                state.isBegun = true
                state.failure = nil
            } catch {
                // Keep the queue after a timeout: it is still valid once the lock is released.
                if error.code != .busy { state.queue = nil }
                state.failure = error
            }
        }
    }

    /// Commits the notice and notifies other processes; `transaction` is the save's number in history.
    ///
    /// Does nothing unless ``begin(_:author:commit:)`` was called.
    func finish(_ transaction: Int64?, wakes: Bool = true) {
        state.withLock { state in
            guard state.isDue else { return }
            state.isDue = false
            if let transaction {
                state.transactions.insert(transaction)
                if state.transactions.count > Self.mostTransactions {
                    let kept = transaction - Int64(Self.mostTransactions / 2)
                    state.transactions = state.transactions.filter { $0 > kept }
                }
            }
            do throws(RelayError) {
                if state.isBegun { try state.queue?.finishPost() }
                state.isBegun = false
                guard wakes else { return }
                if state.wake == nil { state.wake = try RemoteChangeNotification(beside: location) { nil } }
                try state.wake?.post()
            } catch {
                state.isBegun = false
                state.failure = error
            }
        }
    }

    /// Rolls back the notice of a save that was not committed; does nothing after ``finish(_:)``.
    func abandon() {
        state.withLock { state in
            state.isDue = false
            guard state.isBegun else { return }
            state.queue?.abandonPost()
            state.isBegun = false
        }
    }

    /// Closes the queue; the next save opens it.
    func close() {
        state.withLock { state in
            state.queue = nil
            state.wake = nil
        }
    }

    /// True for a transaction that this poster posted.
    func isOwn(_ transaction: Int64) -> Bool { state.withLock { $0.transactions.contains(transaction) } }
}

extension AttachedStore {
    /// Begins the notice of a save that is written and about to be committed; a save that changed no row makes no
    /// commit.
    func beginPosting(_ outcome: SaveOutcome, author: String?, since rows: Int64, _ connection: StoreConnection) {
        func uris(_ ids: Set<ManagedObjectID>) -> [ObjectURI] { ids.sorted().compactMap(\.objectURI) }
        beginPosting(author: author, since: rows, connection) {
            let sets: [ChangeNotice.Change: [ObjectURI]] = [
                .inserted: uris(outcome.inserted), .updated: uris(outcome.updated), .deleted: uris(outcome.deleted),
            ]
            return .objects(sets.filter { !$0.value.isEmpty })
        }
    }

    /// Begins the notice of changes without object IDs: it refers to history, or asks for a full refresh.
    func beginPostingUnnamed(author: String?, since rows: Int64, _ connection: StoreConnection) {
        beginPosting(author: author, since: rows, connection) { .everything }
    }

    /// Runs `body` in a transaction that changes no object, and posts a notice without objects for its commit.
    func keepBooks<R>(_ connection: StoreConnection, _ body: () throws -> R) throws -> R {
        defer { poster?.abandon() }
        let rows = try connection.rowsChanged()
        let result = try connection.inTransaction(until: Deadline(after: lockTimeout)) {
            let result = try body()
            if let poster, try connection.rowsChanged() > rows {
                poster.begin(.objects([:]), author: nil, commit: (try? connection.commitCount())?.next)
            }
            return result
        }
        poster?.finish(nil, wakes: false)
        return result
    }

    private func beginPosting(
        author: String?,
        since rows: Int64,
        _ connection: StoreConnection,
        _ content: () -> ChangeNotice.Content
    ) {
        // A failure here must not fail the save.
        guard let poster, let changed = try? connection.rowsChanged(), changed > rows else { return }
        let commit = (try? connection.commitCount())?.next
        guard recordsHistory, let transaction = try? lastTransaction(connection) else {
            poster.begin(content(), author: author, commit: commit)
            return
        }
        poster.begin(.history(through: transaction), author: author, commit: commit)
    }
}
