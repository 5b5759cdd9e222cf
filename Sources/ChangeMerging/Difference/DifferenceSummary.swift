/// How much two stores differ.
public struct DifferenceSummary: Hashable, Sendable, Codable {
    /// Counts of objects of one entity, or of rows of one table.
    public struct Counts: Hashable, Sendable, Codable {
        public var inserted = 0
        public var updated = 0
        public var deleted = 0
    }

    /// The first store's changes since the base, by entity; empty without a base.
    public internal(set) var first: [String: Counts] = [:]
    /// The second store's changes since the base, or its differences from the first.
    public internal(set) var second: [String: Counts] = [:]
    /// Tables, indexes, triggers, views and header fields that differ.
    ///
    /// Rows of such tables may not have been compared.
    public internal(set) var definitions: [String] = []
    /// Tables that differ although no object shows it, such as Core Data's own, and the external files.
    public internal(set) var tables: [String] = []
    /// The conflicts that a merge of the second store into the first would decide.
    public internal(set) var conflicts: [StoreMergeConflict] = []
    /// Why the second store could not be merged into the first.
    public internal(set) var refusals: [MergeRefusal] = []

    /// True if the stores have the same content.
    public var isEqual: Bool { first.isEmpty && second.isEmpty && definitions.isEmpty && tables.isEmpty }

    mutating func count(_ difference: ObjectDifference) {
        let keyPath: WritableKeyPath<Self, [String: Counts]> = difference.side == .first ? \.first : \.second
        var counts = self[keyPath: keyPath][difference.entity] ?? Counts()
        switch difference.kind {
        case .inserted: counts.inserted += 1
        case .updated: counts.updated += 1
        case .deleted: counts.deleted += 1
        }
        self[keyPath: keyPath][difference.entity] = counts
    }
}
