package import StoreAccess

/// The change of one transaction to one object.
package struct HistoryChange: Hashable, Sendable {
    /// The kind of change, with history's numbers.
    package enum Kind: Int64, Sendable {
        case insert = 0
        case update = 1
        case delete = 2
    }

    /// Its own number, which ascends with that of the transaction.
    package let number: Int64
    /// The transaction's number; nil if the row has none.
    package let transaction: Int64?
    /// Nil for a number that history does not use.
    package let kind: Kind?
    /// The number of the object's concrete entity; nil if the row has none.
    package let entity: Int64?
    package let primaryKey: Int64?
    /// The bitmap of the properties that an update changed.
    package let columns: [UInt8]?
    /// The last values of a deleted object, as far as its entity preserves them.
    package let tombstone: [SQLValue]

    /// The properties that an update changed; nil for other changes, or if the bitmap does not match the model.
    package func properties(in layout: StoreLayout) -> ChangedProperties? {
        guard kind == .update, let columns, let entity = entity.flatMap(layout.entity(numbered:)) else { return nil }
        return entity.historySlots.properties(in: columns)
    }

    /// The preserved values of a deleted object, by attribute; empty for other changes.
    package func tombstoneValues(in layout: StoreLayout) -> [String: SQLValue] {
        guard kind == .delete, let entity = entity.flatMap(layout.entity(numbered:)) else { return [:] }
        return Dictionary(zip(entity.tombstoneAttributes, tombstone), uniquingKeysWith: { first, _ in first })
    }
}

/// One transaction of a store's persistent history.
package struct HistoryTransaction: Hashable, Sendable {
    /// Its number, which history tokens count.
    package let number: Int64
    /// When it was committed, in seconds since 2001-01-01T00:00:00Z.
    package let timestamp: Double?
    package let author: String?
    package let contextName: String?
    package let bundleID: String?
    /// The name of the process, despite this property's name.
    package let processID: String?
}
