/// What a merge does, or did, in numbers, with every conflict and its decision.
public struct MergeSummary: Hashable, Sendable, Codable {
    /// How many objects of one entity, or rows of one table, the merge changes.
    public struct Counts: Hashable, Sendable, Codable {
        public var inserted = 0
        public var restored = 0
        public var updated = 0
        public var deleted = 0

        public init() {}
    }

    /// Why the merge is refused; empty if it is not.
    public var refusals: [MergeRefusal] = []
    public var inserted = 0
    /// Objects that only the shared side deleted, and that the merge restores.
    public var restored = 0
    public var updated = 0
    public var deleted = 0
    /// Pairs of objects that the merge connects or disconnects.
    public var connected = 0
    public var parted = 0
    /// Ordered relationships whose order the merge maintains.
    public var reordered = 0
    /// Objects that exist on both sides, matched by unique or identifying values.
    public var joined = 0
    /// Objects of the old side with another key in the shared store, matched objects included.
    public var rekeyed = 0
    /// Parked rows: rows that lost a decision.
    public var parked = 0
    public var entities: [String: Counts] = [:]
    public var conflicts: [StoreMergeConflict] = []
    public var notes: [MergeNote] = []
    /// True if the old side has no changes since the base.
    public var isIdle = false
    /// The policy that decided where both sides changed a value, of all entities without one of their own.
    public var policy: StoreMergePolicy?
    /// The policies of single entities.
    public var policies: [String: StoreMergePolicy]?

    public init() {}

    /// True if the shared store already has all of the old store's content.
    public var changesNothing: Bool {
        inserted + restored + updated + deleted + connected + parted + reordered == 0
    }
}
