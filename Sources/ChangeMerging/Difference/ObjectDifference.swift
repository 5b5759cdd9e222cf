public import StoreFormat

/// How one object, or one row of a table, differs between two stores.
public struct ObjectDifference: Hashable, Sendable, Codable {
    /// The changed store, where both are compared with the base.
    public enum Side: String, Hashable, Sendable, Codable {
        case first, second
    }

    public enum Kind: String, Hashable, Sendable, Codable {
        /// Only the second store has it.
        case inserted
        case updated
        /// Only the first store has it.
        case deleted
    }

    /// One property of an object that both stores have.
    public struct Property: Hashable, Sendable, Codable {
        public let name: String
        /// The values, if requested; nil for a relationship.
        public let before: StoreMergeConflict.State?
        public let after: StoreMergeConflict.State?
        /// The keys of the partners that were added or removed.
        public let added: [Int64]
        public let removed: [Int64]
        /// True if only the order of the partners differs.
        public let isReordered: Bool
    }

    /// The store that made the change since the base; nil if two stores are compared with each other.
    public let side: Side?
    /// The entity, or the table in a store without a Core Data model.
    public let entity: String
    /// One number, or the values of a table's primary key; empty for a row of a table without a key.
    public let key: [StoredValue]
    /// The object's address; nil for a row of a table.
    public let address: ObjectURI?
    public let kind: Kind
    /// In byte order; empty for an object that only one of the stores has.
    public let properties: [Property]
}
