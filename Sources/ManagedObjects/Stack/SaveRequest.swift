internal import ChangeMerging
internal import StoreFormat

/// All that one context asks a store to do, in one transaction.
struct SaveRequest: Sendable {
    /// Changes to an object that is there.
    struct Update: Sendable {
        var id: ManagedObjectID
        /// The row as it was read; what others did since is a conflict.
        var base: RowSnapshot
        var values: [String: PropertyValue]
    }

    /// Changes to a to-many relationship that no to-one on its other side tells of, and the order of an ordered one.
    struct Link: Sendable {
        var owner: ManagedObjectID
        var relationship: String
        var added: [ManagedObjectID]
        var removed: [ManagedObjectID]
        var order: [ManagedObjectID]?
    }

    struct Deletion: Sendable {
        var id: ManagedObjectID
        var base: RowSnapshot?
    }

    var insertions: [Insertion] = []
    var updates: [Update] = []
    var links: [Link] = []
    var deletions: [Deletion] = []
    /// Objects that make room for others with the same unique values, before anything else is written.
    var precedingDeletions: [ManagedObjectID] = []
    /// New objects that will not be inserted, for an object with the same unique values is there.
    var standIns: [ManagedObjectID: ManagedObjectID] = [:]
    var policy = MergePolicy.error
    var author: String?
    var contextName: String?

    var isEmpty: Bool { insertions.isEmpty && updates.isEmpty && links.isEmpty && deletions.isEmpty }
}

/// What came of a save.
struct SaveOutcome: Sendable {
    /// The permanent id of each new object; where a unique one was there already, that one's.
    var permanentIDs: [ManagedObjectID: ManagedObjectID] = [:]
    var inserted: Set<ManagedObjectID> = []
    var updated: Set<ManagedObjectID> = []
    var deleted: Set<ManagedObjectID> = []
    /// Objects that stay as the store has them, by the merge policy.
    var kept: Set<ManagedObjectID> = []
    /// The rows of all objects above that are there, as they are after the save.
    var rows: [RowSnapshot] = []
    /// The number of the save's transaction in the store's history.
    var transactions: [String: Int64] = [:]
}
