package import StoreAccess
package import StoreFormat

/// The net changes of one save to each object: the input of history, and the objects whose version was raised.
package struct SaveChanges: Sendable {
    package private(set) var deleted: [ObjectKey] = []
    // Objects that were changed and then deleted stay in these two, and are filtered out on access.
    private var insertionOrder: [ObjectKey] = []
    private var updateOrder: [ObjectKey] = []
    private var isInserted: Set<ObjectKey> = []
    private var isDeleted: Set<ObjectKey> = []
    private var rewritten: Set<ObjectKey> = []
    private var slots: [ObjectKey: Set<HistorySlots.Slot>] = [:]
    private var tombstones: [ObjectKey: [SQLValue]] = [:]

    package init() {}

    /// The objects in the order in which they were inserted.
    package var inserted: [ObjectKey] { hasDeletions ? insertionOrder.filter(isInserted.contains) : insertionOrder }

    /// True if an object was deleted, even one that the same save inserted.
    package var hasDeletions: Bool { !isDeleted.isEmpty }

    /// The existing objects, in the order in which they were first changed.
    package var updated: [ObjectKey] { updateOrder.filter { slots[$0] != nil } }

    /// The changes of an updated object, in history's terms, which do not distinguish to-many relationships.
    package func changedSlots(of key: ObjectKey) -> Set<HistorySlots.Slot> { slots[key] ?? [] }

    /// The values that history keeps of a deleted object, in the order of the tombstone columns.
    package func tombstone(of key: ObjectKey) -> [SQLValue] { tombstones[key] ?? [] }

    package func hasInserted(_ key: ObjectKey) -> Bool { isInserted.contains(key) }

    /// True for an object whose row this save inserted and then wrote to again.
    package func hasRewritten(_ key: ObjectKey) -> Bool { rewritten.contains(key) }

    package func hasDeleted(_ key: ObjectKey) -> Bool { isDeleted.contains(key) }

    /// True for an object whose version this save has raised.
    package func hasUpdated(_ key: ObjectKey) -> Bool { slots[key] != nil }

    /// Reserves capacity for `count` more insertions.
    mutating func reserve(_ count: Int) {
        insertionOrder.reserveCapacity(insertionOrder.count + count)
        isInserted.reserveCapacity(isInserted.count + count)
    }

    mutating func insert(_ key: ObjectKey) {
        insertionOrder.append(key)
        isInserted.insert(key)
    }

    /// Records a change to an object; an object that this save inserted or deleted keeps that state.
    mutating func update(_ key: ObjectKey, _ changed: Set<HistorySlots.Slot>) {
        guard !isInserted.contains(key) else {
            rewritten.insert(key)
            return
        }
        guard !isDeleted.contains(key) else { return }
        if slots[key] == nil { updateOrder.append(key) }
        slots[key, default: []].formUnion(changed)
    }

    /// Records a deletion; an object that this save inserted then leaves no trace.
    mutating func delete(_ key: ObjectKey, tombstone: [SQLValue]) {
        isDeleted.insert(key)
        slots[key] = nil
        guard isInserted.remove(key) == nil else { return }
        deleted.append(key)
        tombstones[key] = tombstone
    }

    /// Lists an object for history alone: this save did not change it.
    ///
    /// Call it after all changes, because a listed object's version is not raised any more.
    mutating func list(
        _ key: ObjectKey,
        _ kind: HistoryChange.Kind,
        _ changed: Set<HistorySlots.Slot>,
        tombstone: [SQLValue]
    ) {
        guard !isInserted.contains(key), !isDeleted.contains(key) else { return }
        switch kind {
        case .insert:
            slots[key] = nil
            insert(key)
        case .update: update(key, changed)
        case .delete:
            guard slots[key] == nil else { return }
            delete(key, tombstone: tombstone)
        }
    }
}

/// An object of a store: its concrete entity and its primary key.
package struct ObjectKey: Hashable, Sendable {
    package let entity: String
    package let primaryKey: Int64

    package init(entity: String, primaryKey: Int64) {
        self.entity = entity
        self.primaryKey = primaryKey
    }

    /// Most keys in a set are of one entity, so the number alone distributes well.
    package func hash(into hasher: inout Hasher) { hasher.combine(primaryKey) }
}

/// An object is not in the state that the writer expects: another process changed or deleted it.
package struct VersionConflict: Error, Hashable, Sendable, CustomStringConvertible {
    package let object: ObjectKey
    /// The expected version (`Z_OPT`); nil if only the existence of the object was expected.
    package let expected: Int64?
    /// The version in the store; nil if the object is deleted.
    package let found: Int64?

    package init(object: ObjectKey, expected: Int64?, found: Int64?) {
        self.object = object
        self.expected = expected
        self.found = found
    }

    package var description: String {
        let object = "the object \(object.primaryKey) of \(object.entity)"
        return found == nil ? "\(object) was deleted" : "\(object) was changed meanwhile"
    }
}

/// A uniqueness constraint rejected an object because another object has the same values.
package struct UniquenessConflict: Error, Hashable, Sendable, CustomStringConvertible {
    /// The object to be written.
    package let object: ObjectKey
    /// The names of the constraint's properties; empty if the index belongs to no constraint of the model.
    package let constraint: [String]
    /// The object that has the values already; the same save may have written it.
    package let holder: ObjectKey?

    package init(object: ObjectKey, constraint: [String], holder: ObjectKey?) {
        self.object = object
        self.constraint = constraint
        self.holder = holder
    }

    package var description: String {
        "another object of \(object.entity) has the same \(constraint.joined(separator: ", "))"
    }
}
