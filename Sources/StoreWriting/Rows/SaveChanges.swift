package import StoreFormat

/// What one save does to each object, the net of it: what history is told, and whose version has been raised.
package struct SaveChanges: Sendable {
    package private(set) var deleted: [ObjectKey] = []
    // Objects that were touched and then deleted stay in these two, and are passed over when they are asked for.
    private var insertionOrder: [ObjectKey] = []
    private var updateOrder: [ObjectKey] = []
    private var isInserted: Set<ObjectKey> = []
    private var isDeleted: Set<ObjectKey> = []
    private var slots: [ObjectKey: Set<StoreShape.HistorySlot>] = [:]
    private var tombstones: [ObjectKey: [SQLValue]] = [:]

    package init() {}

    /// The objects in the order in which they were inserted.
    package var inserted: [ObjectKey] { insertionOrder.filter(isInserted.contains) }

    /// The objects that were there before, in the order in which they were first changed.
    package var updated: [ObjectKey] { updateOrder.filter { slots[$0] != nil } }

    /// The properties of an updated object that this save changed.
    package func changedSlots(of key: ObjectKey) -> Set<StoreShape.HistorySlot> { slots[key] ?? [] }

    /// The values that history keeps of a deleted object, in the order of the tombstone columns.
    package func tombstone(of key: ObjectKey) -> [SQLValue] { tombstones[key] ?? [] }

    mutating func insert(_ key: ObjectKey) {
        insertionOrder.append(key)
        isInserted.insert(key)
    }

    /// Notes a change; returns true when it is the first to an object that this save did not insert.
    mutating func update(_ key: ObjectKey, _ changed: Set<StoreShape.HistorySlot>) -> Bool {
        guard !isInserted.contains(key), !isDeleted.contains(key) else { return false }
        let isFirst = slots[key] == nil
        slots[key, default: []].formUnion(changed)
        if isFirst { updateOrder.append(key) }
        return isFirst
    }

    /// Notes a deletion; an object that this save inserted was then never there.
    mutating func delete(_ key: ObjectKey, tombstone: [SQLValue]) {
        isDeleted.insert(key)
        slots[key] = nil
        guard isInserted.remove(key) == nil else { return }
        deleted.append(key)
        tombstones[key] = tombstone
    }
}
