/// How much two stores differ.
public struct DifferenceSummary: Hashable, Sendable, Codable {
    /// How many objects of one entity, or rows of one table.
    public struct Counts: Hashable, Sendable, Codable {
        public var inserted = 0
        public var updated = 0
        public var deleted = 0
    }

    /// What the first store did since the base, by entity; empty where there is no base.
    public internal(set) var first: [String: Counts] = [:]
    /// What the second store did since the base, or how it differs from the first.
    public internal(set) var second: [String: Counts] = [:]
    /// Tables, indexes, triggers, views and header fields that differ; rows of such tables may not have been compared.
    public internal(set) var definitions: [String] = []
    /// Tables that differ in what no object shows, such as Core Data's own; and the external files.
    public internal(set) var tables: [String] = []
    /// What a merge of the second store into the first would have to decide.
    public internal(set) var conflicts: [StoreMergeConflict] = []
    /// Why the second store would not be merged into the first.
    public internal(set) var refusals: [MergeRefusal] = []

    /// True when the stores hold the same.
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
