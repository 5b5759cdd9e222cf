/// What came of a save.
struct SaveOutcome: Sendable {
    /// The permanent id of each new object; where a unique one was there already, that one's.
    var permanentIDs: [ManagedObjectID: ManagedObjectID] = [:]
    var inserted: Set<ManagedObjectID> = []
    var updated: Set<ManagedObjectID> = []
    var deleted: Set<ManagedObjectID> = []
    /// Objects that stay as the store has them, by the merge policy.
    var kept: Set<ManagedObjectID> = []
    /// True when the store does not hold just what was asked for: what the context knows of to-many relationships may be wrong.
    var isMerged = false
    /// The rows of all objects above that are there, as they are after the save.
    var rows: [RowSnapshot] = []
    /// The number of the save's transaction in the store's history.
    var transactions: [String: Int64] = [:]

    /// Takes in what came of the same save in another store.
    mutating func add(_ other: SaveOutcome) {
        permanentIDs.merge(other.permanentIDs) { $1 }
        inserted.formUnion(other.inserted)
        updated.formUnion(other.updated)
        deleted.formUnion(other.deleted)
        kept.formUnion(other.kept)
        isMerged = isMerged || other.isMerged
        rows += other.rows
        transactions.merge(other.transactions) { $1 }
    }
}
