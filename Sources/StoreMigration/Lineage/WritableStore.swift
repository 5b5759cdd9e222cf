import SafeFiles
import StoreFormat

/// A store that a command of ours is about to write rows into: the only connection that merges, undoings, replacements and
/// restored rows accept.
///
/// A fenced, withdrawn or retired store is never one, but for the command that lifts that state. Who makes one says what the
/// write does to the records of the pairs that the store belongs to, so that no write leaves a record that is not true.
struct WritableStore {
    /// What a write does to what the store has in common with others.
    enum Effect {
        /// Rows of a third store, or that people put back, arrive as an app's own would: every record stays true.
        case arrival
        /// A run over the pair records in its own journal what both have in common once it is committed.
        case renewal
        /// Content goes that a base may hold: the run voids the records of the store before it commits.
        case loss
    }

    let location: StoreLocation
    let effect: Effect
    let connection: StoreConnection

    /// Opens the store for writing; nothing is written yet.
    ///
    /// Throws for a store whose fence none of the runs in `lifted` set. Merges ask for the fence once more inside their
    /// transactions; a replacement does under its lock.
    init(_ location: StoreLocation, _ effect: Effect, lifting lifted: Set<String> = [], lockTimeout: Duration) throws {
        self.location = location
        self.effect = effect
        connection = try StoreConnection(location, access: .liveWriting, lockTimeout: lockTimeout)
        try Self.requireNoFence(in: connection, lifting: lifted)
    }

    /// Throws where a fence stands in the store that none of these runs set.
    static func requireNoFence(in connection: StoreConnection, lifting lifted: Set<String>) throws {
        if let fence = try StoreFence(reading: connection), lifted.contains(fence.transaction) { return }
        try StoreFence.requireNone(in: connection)
    }
}
