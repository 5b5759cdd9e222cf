/// What came of a save.
struct SaveOutcome: Sendable {
    /// A new object that was inserted.
    struct Insertion: Sendable {
        /// The id that it was to be saved under, mostly a temporary one.
        let id: ManagedObjectID
        let permanentID: ManagedObjectID
        /// Its row; nil for one that is among the rows of the others.
        let row: RowSnapshot?
    }

    /// The new objects in the order in which they were inserted.
    var insertions: [Insertion] = []
    /// New objects that were not inserted, for one with the same unique values was there already.
    var standIns: [ManagedObjectID: ManagedObjectID] = [:]
    var inserted: Set<ManagedObjectID> = []
    var updated: Set<ManagedObjectID> = []
    var deleted: Set<ManagedObjectID> = []
    /// Objects that stay as the store has them, by the merge policy.
    var kept: Set<ManagedObjectID> = []
    /// True when the store does not hold just what was asked for: what the context knows of to-many relationships may be wrong.
    var isMerged = false
    /// The rows of all objects above that are there, as they are after the save; without those of ``insertions``.
    var rows: [RowSnapshot] = []
    /// The number of the save's transaction in the store's history.
    var transactions: [String: Int64] = [:]

    /// Takes in what came of the same save in another store.
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
