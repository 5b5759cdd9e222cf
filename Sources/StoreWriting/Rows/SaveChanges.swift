package import StoreFormat

/// What one save does to each object, the net of it: what history is told, and whose version has been raised.
package struct SaveChanges: Sendable {
    /// The objects in the order in which they were inserted.
    package private(set) var inserted: [ObjectKey] = []
    package private(set) var updated: [ObjectKey] = []
    package private(set) var deleted: [ObjectKey] = []
    private var isInserted: Set<ObjectKey> = []
    private var isDeleted: Set<ObjectKey> = []
    private var slots: [ObjectKey: Set<StoreShape.HistorySlot>] = [:]
    private var tombstones: [ObjectKey: [SQLValue]] = [:]

    package init() {}

    /// The properties of an updated object that this save changed.
    package func changedSlots(of key: ObjectKey) -> Set<StoreShape.HistorySlot> { slots[key] ?? [] }

    /// The values that history keeps of a deleted object, in the order of the tombstone columns.
    package func tombstone(of key: ObjectKey) -> [SQLValue] { tombstones[key] ?? [] }

    mutating func insert(_ key: ObjectKey) {
        inserted.append(key)
        isInserted.insert(key)
    }

    /// Notes a change; returns true when it is the first to an object that this save did not insert.
    mutating func update(_ key: ObjectKey, _ changed: Set<StoreShape.HistorySlot>) -> Bool {
        guard !isInserted.contains(key), !isDeleted.contains(key) else { return false }
        let isFirst = slots[key] == nil
        slots[key, default: []].formUnion(changed)
        if isFirst { updated.append(key) }
        return isFirst
    }

    /// Notes a deletion; an object that this save inserted was then never there.
    mutating func delete(_ key: ObjectKey, tombstone: [SQLValue]) {
        isDeleted.insert(key)
        if slots.removeValue(forKey: key) != nil { updated.removeAll { $0 == key } }
        if isInserted.remove(key) != nil {
            inserted.removeAll { $0 == key }
        } else {
            deleted.append(key)
            tombstones[key] = tombstone
        }
    }
}
