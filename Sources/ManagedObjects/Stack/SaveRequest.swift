internal import ChangeMerging
internal import StoreFormat

/// All changes of one context, to be saved in one transaction.
struct SaveRequest: Sendable {
    /// Changes to an existing object.
    struct Update: Sendable {
        var id: ManagedObjectID
        /// The row as read; nil if it was never read.
        ///
        /// Later changes elsewhere are conflicts.
        var base: RowSnapshot?
        var values: [String: PropertyValue]
        /// Changes to the members of its to-many relationships; ``SaveRequest/links`` and to-one relationships write
        /// them.
        var members: [String: ToManyChange<PropertyValue>] = [:]
        /// True when members of an ordered relationship changed positions.
        var isRearranged = false
    }

    /// Changes to a to-many relationship without a to-one inverse, and the order of an ordered one.
    struct Link: Sendable {
        var owner: ManagedObjectID
        var relationship: String
        var added: [ManagedObjectID]
        var removed: [ManagedObjectID]
        /// The members of an ordered relationship, in the order as read.
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
    /// Objects replaced by others with the same unique values, which take over their relationships.
    var supplanted: [(loser: ManagedObjectID, winner: ManagedObjectID)] = []
    /// New objects that are not inserted because an object with the same unique values exists.
    var standIns: [ManagedObjectID: ManagedObjectID] = [:]
    /// True to clear all changed unique values before assigning any of them.
    var parksUniqueValues = false
    var policy = MergePolicy.error
    var author: String?
    var contextName: String?

    var isEmpty: Bool { insertions.isEmpty && updates.isEmpty && links.isEmpty && deletions.isEmpty }
}
