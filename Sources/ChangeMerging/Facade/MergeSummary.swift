/// What a merge does, or did, in numbers, with every decision that took a side.
public struct MergeSummary: Hashable, Sendable, Codable {
    /// How many objects of one entity, or rows of one table, the merge touches.
    public struct Counts: Hashable, Sendable, Codable {
        public var inserted = 0
        public var restored = 0
        public var updated = 0
        public var deleted = 0

        public init() {}
    }

    /// Why it is not carried out; empty when it is.
    public var refusals: [MergeRefusal] = []
    public var inserted = 0
    /// Objects that only the shared side had deleted, and that come back.
    public var restored = 0
    public var updated = 0
    public var deleted = 0
    /// Pairs of objects that a relationship connects, or does not connect any more.
    public var connected = 0
    public var parted = 0
    /// Ordered relationships whose order is looked after.
    public var reordered = 0
    /// Objects that both sides have, by their unique or identifying values.
    public var joined = 0
    /// Objects of the old side that have another key in the shared store, joined ones included.
    public var rekeyed = 0
    /// Rows that lost a decision and are written down.
    public var parked = 0
    public var entities: [String: Counts] = [:]
    public var conflicts: [StoreMergeConflict] = []
    public var notes: [MergeNote] = []
    /// True when the old side did nothing since the base.
    public var isIdle = false

    public init() {}

    /// True when the shared store has all that the old one has.
    public var changesNothing: Bool {
        inserted + restored + updated + deleted + connected + parted + reordered == 0
    }
}
