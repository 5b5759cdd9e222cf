internal import ChangeRelay
internal import FoundationEssentials
internal import SafeFiles
internal import StoreFormat
internal import Synchronization

/// Tells other processes of the saves to one store, in the order in which they were committed.
///
/// A notice is written while the store's write lock is held, becomes visible after the commit, and is there before the save
/// returns. What goes wrong here fails no save: others see that there was a commit without a notice, and refresh everything.
final class RemoteChangePoster: Sendable {
    private struct State {
        var queue: RelayQueue?
        var wake: RemoteChangeNotification?
        var number: Int64 = 0
        var isBegun = false
        /// True once there is a commit to tell of, also when its notice could not be written.
        var isDue = false
        var failure: RelayError?
        var transactions: Set<Int64> = []
    }

    /// The store's own lock is held meanwhile, so nobody waits long, and not again for one that is stopped: without a notice
    /// others see the commit all the same.
    private static let patience = Duration.seconds(2)
    private static let mostTransactions = 100_000

    private let location: StoreLocation
    /// The name under which this coordinator's notices are posted; nobody else has it.
    let writer = UUID().uuidString
    private let state = Mutex(State())

    init(beside location: StoreLocation) { self.location = location }

    /// Why the last save could not be told of; nil when it could.
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
                // Whoever holds the relay's lock lets go of it some time; the queue is as good as before.
                if error.code != .busy { state.queue = nil }
                state.failure = error
            }
        }
    }

    /// Shows the notice, and wakes everybody; `transaction` is the save's number in history.
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

    /// Takes back the notice of a save that was not committed; does nothing after ``finish(_:)``.
    func abandon() {
        state.withLock { state in
            state.isDue = false
            guard state.isBegun else { return }
            state.queue?.abandonPost()
            state.isBegun = false
        }
    }

    /// True for a transaction of a save that was told of here.
    func isOwn(_ transaction: Int64) -> Bool { state.withLock { $0.transactions.contains(transaction) } }
}
