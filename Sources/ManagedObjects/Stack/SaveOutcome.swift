/// The outcome of a save.
struct SaveOutcome: Sendable {
    /// A new object that was inserted.
    struct Insertion: Sendable {
        /// The ID in the request, usually a temporary one.
        let id: ManagedObjectID
        let permanentID: ManagedObjectID
        /// Its row; nil if the row is in ``SaveOutcome/rows``.
        let row: RowSnapshot?
    }

    /// The new objects in the order of their insertion.
    var insertions: [Insertion] = []
    /// New objects that were not inserted because an object with the same unique values exists, with that object.
    var standIns: [ManagedObjectID: ManagedObjectID] = [:]
    var inserted: Set<ManagedObjectID> = []
    var updated: Set<ManagedObjectID> = []
    var deleted: Set<ManagedObjectID> = []
    /// Objects that keep the store's values, by the merge policy.
    var kept: Set<ManagedObjectID> = []
    /// True when the store differs from the request, so the context's cached to-many relationships may be wrong.
    var isMerged = false
    /// The rows after the save of all existing objects above; without those of ``insertions``.
    var rows: [RowSnapshot] = []
    /// The number of the save's transaction in the store's history.
    var transactions: [String: Int64] = [:]

    /// Adds the outcome of the same save in another store.
    mutating func add(_ other: SaveOutcome) {
        insertions += other.insertions
        standIns.merge(other.standIns) { $1 }
        inserted.formUnion(other.inserted)
        updated.formUnion(other.updated)
        deleted.formUnion(other.deleted)
        kept.formUnion(other.kept)
        isMerged = isMerged || other.isMerged
        rows += other.rows
        transactions.merge(other.transactions) { $1 }
    }
}
