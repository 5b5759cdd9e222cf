internal import ChangeMerging
internal import StoreFormat

/// All that one context asks a store to do, in one transaction.
struct SaveRequest: Sendable {
    /// Changes to an object that is there.
    struct Update: Sendable {
        var id: ManagedObjectID
        /// The row as it was read, nil where nobody has; what others did since is a conflict.
        var base: RowSnapshot?
        var values: [String: PropertyValue]
        /// What was done to the members of its to-many relationships; ``SaveRequest/links`` and to-ones write it.
        var members: [String: ToManyChange<PropertyValue>] = [:]
        /// True when members of an ordered relationship changed places.
        var isRearranged = false
    }

    /// Changes to a to-many relationship that no to-one on its other side tells of, and the order of an ordered one.
    struct Link: Sendable {
        var owner: ManagedObjectID
        var relationship: String
        var added: [ManagedObjectID]
        var removed: [ManagedObjectID]
        /// The members of an ordered relationship, in the order in which they were read.
        var base: [ManagedObjectID] = []
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
    /// Objects that make room for others with the same unique values, and hand their relationships over to them.
    var supplanted: [(loser: ManagedObjectID, winner: ManagedObjectID)] = []
    /// New objects that will not be inserted, for an object with the same unique values is there.
    var standIns: [ManagedObjectID: ManagedObjectID] = [:]
    /// True to take all unique values away from their objects before any is given to another.
    var parksUniqueValues = false
    var policy = MergePolicy.error
    var author: String?
    var contextName: String?

    var isEmpty: Bool { insertions.isEmpty && updates.isEmpty && links.isEmpty && deletions.isEmpty }
}
