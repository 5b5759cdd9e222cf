internal import ChangeRelay
internal import StoreFormat
internal import Synchronization

/// How far one consumer has come with one store.
///
/// A commit that nobody told of shows as a gap: every commit raises the store's count, and a notice says which one it is
/// about. So does every transaction of history, which is one commit.
struct FollowedStore {
    /// More commits than this at once are not looked through one by one.
    private static let mostCommits: UInt32 = 100_000

    let store: AttachedStore
    let consumer: RelayConsumer?
    /// The last transaction of history that was merged; nil where there is no history.
    var token: Int64?
    /// What of ``token`` the consumer has put down.
    var savedToken: Int64?
    private var seen: CommitState?
    private var version: StoreVersion?
    /// The commits that notices were about, as far as they are not behind ``seen``.
    private var covered: Set<UInt32> = []
    private var announced: Set<Int64> = []
    /// When a gap was first seen.
    private var gapSince: ContinuousClock.Instant?

    init(_ store: AttachedStore, as name: String?) throws {
        self.store = store
        let isWritable = store.readOnlyReason == nil
        consumer = try isWritable ? name.map { try RelayConsumer($0, of: RelayQueue(beside: store.location)) } : nil
        seen = store.openingState.withLock { $0 }
        guard store.contents.hasHistory else { return }
        // Contexts have read nothing from before the store was opened; all that came afterwards is to be merged.
        let opened = try seen?.lastTransaction ?? store.lastTransaction() ?? 0
        savedToken = try consumer?.history(of: store.uuid)
        token = min(savedToken ?? opened, opened)
    }

    /// True for a notice of this coordinator's own saves.
    func isOwn(_ notice: ChangeNotice) -> Bool { notice.key.writer == store.poster?.writer }

    /// Takes note of what a notice is about.
    mutating func note(_ notice: ChangeNotice) {
        if let commit = notice.commit { covered.insert(commit.number) }
        if case .history(let transaction) = notice.content { announced.insert(transaction) }
    }

    /// What there is to judge when everything that was told is merged.
    struct Moment {
        let before: StoreVersion?
        let state: CommitState
        let after: StoreVersion?
    }

    /// Takes in where the store stands, to be called first.
    func moment() throws -> Moment {
        let before = store.foreignVersion()
        let state = try store.commitState()
        return Moment(before: before, state: state, after: store.foreignVersion())
    }

    /// What is to be done about commits that nobody told of.
    enum Verdict {
        case nothing
        case wait
        case refresh
    }

    /// Judges whether all commits up to a moment were told of; when `waits`, a notice gets a moment to come.
    mutating func judge(_ moment: Moment, waits: Bool) throws -> Verdict {
        let isUntouched = moment.after != nil && moment.after == version
        guard try !isUntouched && hasGap(moment.state) else {
            close(moment)
            return .nothing
        }
        if waits, consumer != nil, token == nil {
            let since = gapSince ?? .now
            gapSince = since
            guard since.duration(to: .now) >= RemoteChangeNotification.timeToPost else { return .wait }
        }
        close(moment)
        return .refresh
    }

    private mutating func close(_ moment: Moment) {
        gapSince = nil
        seen = moment.state
        // What others commit from here on shows against what was read before.
        version = moment.before
        if let number = moment.state.count?.number {
            covered = covered.filter { $0 &- number != 0 && $0 &- number < .max / 2 }
        }
        if let last = moment.state.lastTransaction { announced = announced.filter { $0 > last } }
    }

    private func hasGap(_ now: CommitState) throws -> Bool {
        guard let first = seen?.count, let last = now.count, first.isOfLog == last.isOfLog else { return true }
        let distance = last.number &- first.number
        guard distance <= Self.mostCommits else { return true }
        var untold = 0
        for step in 0..<distance where !covered.contains(first.number &+ step &+ 1) { untold += 1 }
        guard untold > 0 else { return false }
        guard let from = seen?.lastTransaction, let to = now.lastTransaction, to > from else { return true }
        // Transactions that were merged without a notice account for as many commits.
        let known = announced.count { $0 > from && $0 <= to }
        return try untold > store.transactions(after: from, through: to) - known
    }
}
