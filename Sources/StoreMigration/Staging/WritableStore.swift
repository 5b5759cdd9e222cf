import SafeFiles
import StoreAccess

/// A store that a command is about to write rows into: the only connection that merges, undos, replacements and
/// restored rows accept.
///
/// Fenced, withdrawn and retired stores are refused, except by the command that ends that state. The caller declares
/// the effect on the records of the store's pairs, so that no write leaves an invalid record.
struct WritableStore {
    /// The effect of a write on the common state with other stores.
    enum Effect {
        /// Rows of a third store, or restored rows, arrive like an app's writes: every record stays valid.
        case arrival
        /// A run over the pair records the new common state in its journal.
        case renewal
        /// Content is lost that a base may have: the run voids the records of the store before it commits.
        case loss
    }

    let location: StoreLocation
    let effect: Effect
    let connection: StoreConnection

    /// Opens the store for writing; nothing is written yet.
    ///
    /// Throws when the store has a fence that no run in `lifted` set. Merges check the fence again inside their
    /// transactions, replacements under their lock.
    init(_ location: StoreLocation, _ effect: Effect, lifting lifted: Set<String> = [], lockTimeout: Duration) throws {
        self.location = location
        self.effect = effect
        try SnapshotRecord.requireNoSnapshot(at: location, in: Directory.open(path: location.folder))
        connection = try StoreConnection(location, access: .liveWriting, lockTimeout: lockTimeout)
        try Self.requireNoFence(in: connection, lifting: lifted)
    }

    /// Throws when the store has a fence that none of these runs set.
    static func requireNoFence(in connection: StoreConnection, lifting lifted: Set<String>) throws {
        if let fence = try StoreFence(reading: connection), lifted.contains(fence.transaction) { return }
        try StoreFence.requireNone(in: connection)
    }
}
