/// What one transaction did to one object.
package struct HistoryChange: Hashable, Sendable {
    /// What was done, with the numbers that history uses.
    package enum Kind: Int64, Sendable {
        case insert = 0
        case update = 1
        case delete = 2
    }

    /// Its own number, which ascends with that of the transaction.
    package let number: Int64
    /// The transaction's number; nil when the row has none.
    package let transaction: Int64?
    /// Nil for a number that history does not use.
    package let kind: Kind?
    /// The number of the object's concrete entity; nil when the row has none.
    package let entity: Int64?
    package let primaryKey: Int64?
    /// The bitmap of the properties that an update changed.
    package let columns: [UInt8]?
    /// The last values of a deleted object, as far as its entity keeps them.
    package let tombstone: [SQLValue]

    /// The properties that an update changed; nil for anything but an update, and when the bitmap does not fit the model.
    package func properties(in layout: StoreLayout) -> ChangedProperties? {
        guard kind == .update, let columns, let entity = entity.flatMap(layout.entity(numbered:)) else { return nil }
        return entity.historySlots.properties(in: columns)
    }

    /// The values that history kept of a deleted object, by attribute; empty for anything but a deletion.
    package func tombstoneValues(in layout: StoreLayout) -> [String: SQLValue] {
        guard kind == .delete, let entity = entity.flatMap(layout.entity(numbered:)) else { return [:] }
        return Dictionary(zip(entity.tombstoneAttributes, tombstone), uniquingKeysWith: { first, _ in first })
    }
}
