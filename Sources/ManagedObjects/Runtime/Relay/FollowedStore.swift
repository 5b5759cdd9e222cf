internal import ChangeRelay
internal import StoreAccess
internal import Synchronization

/// The progress of one consumer in one store.
///
/// A commit without a notice shows as a gap: every commit increments the store's count, and a notice contains the count
/// of its commit. Every history transaction is one commit, too.
struct FollowedStore {
    /// With more commits at once, a gap is assumed without checking each.
    private static let mostCommits: UInt32 = 100_000

    let store: AttachedStore
    /// Nil without a name, and while the store is suspended.
    private(set) var consumer: RelayConsumer?
    private let name: String?
    /// The last merged history transaction; nil without history.
    var token: Int64?
    /// The part of ``token`` that the consumer has saved.
    var savedToken: Int64?
    private var seen: CommitState?
    private var version: StoreVersion?
    /// The commits after ``seen`` that notices covered.
    private var covered: Set<UInt32> = []
    private var announced: Set<Int64> = []
    /// The time when a gap was first seen.
    private var gapSince: ContinuousClock.Instant?

    init(_ store: AttachedStore, as name: String?) throws {
        self.store = store
        self.name = store.readOnlyReason == nil ? name : nil
        consumer = try Self.consumer(self.name, beside: store.location)
        seen = store.openingState.withLock { $0 }
        guard store.contents.hasHistory else { return }
        // Contexts have read nothing older than the opening of the store, so everything later must be merged.
        let opened = try seen?.lastTransaction ?? store.lastTransaction() ?? 0
        savedToken = try consumer?.history(of: store.uuid)
        token = min(savedToken ?? opened, opened)
    }

    private static func consumer(_ name: String?, beside location: StoreLocation) throws -> RelayConsumer? {
        try name.map { try RelayConsumer($0, of: RelayQueue(beside: location)) }
    }

    /// Releases the consumer's name, and its lock; the progress remains.
    mutating func release() { consumer = nil }

    /// Claims the name again after ``release()``.
    mutating func claim() throws {
        if consumer == nil { consumer = try Self.consumer(name, beside: store.location) }
    }

    /// True for a notice of this coordinator's own saves.
    func isOwn(_ notice: ChangeNotice) -> Bool { notice.key.writer == store.poster?.writer }

    /// Records which commit or transaction a notice covers.
    mutating func note(_ notice: ChangeNotice) {
        if let commit = notice.commit { covered.insert(commit.number) }
        if case .history(let transaction) = notice.content { announced.insert(transaction) }
    }

    /// A snapshot of the store's position, judged after all notices are merged.
    struct Moment {
        let before: StoreVersion?
        let state: CommitState
        let after: StoreVersion?
    }

    /// Takes the snapshot; call it before reading notices.
    func moment() throws -> Moment {
        let before = store.foreignVersion()
        let state = try store.commitState()
        return Moment(before: before, state: state, after: store.foreignVersion())
    }

    /// How to handle commits without a notice.
    enum Verdict {
        case nothing
        case wait
        case refresh
    }

    /// Checks that notices cover all commits up to a snapshot; with `waits`, allows a late notice some time.
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
        // The version before the snapshot, so that a commit during it is detected next time.
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
        var uncovered = 0
        for step in 0..<distance where !covered.contains(first.number &+ step &+ 1) { uncovered += 1 }
        guard uncovered > 0 else { return false }
        guard let from = seen?.lastTransaction, let to = now.lastTransaction, to > from else { return true }
        // Transactions that were merged from history without a notice account for as many commits.
        let known = announced.count { $0 > from && $0 <= to }
        return try uncovered > store.transactions(after: from, through: to) - known
    }
}
