/// What changed in a context since its observers were last notified; it never leaves the context.
public struct ObjectsDidChange {
    public var inserted: Set<ManagedObject> = []
    public var updated: Set<ManagedObject> = []
    public var deleted: Set<ManagedObject> = []
    /// Objects whose values were read again and that this context did not change.
    public var refreshed: Set<ManagedObject> = []
    /// The IDs of all objects after a reset; observers must start over.
    public var invalidatedAll: [ManagedObjectID] = []
    /// Every object that a merge reported as inserted, updated or deleted, whether or not this context knew it.
    public var mergedIDs: Set<ManagedObjectID> = []

    /// Every object that a save of this context wrote, even if none of its values is new.
    public var savedIDs: Set<ManagedObjectID> = []

    /// True when observers must read the stores again, because changes of other processes are unknown.
    public var rereadsStores = false

    public var isEmpty: Bool {
        inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty && invalidatedAll.isEmpty
            && mergedIDs.isEmpty && savedIDs.isEmpty && !rereadsStores
    }

    /// The changes as IDs, which may leave the context.
    public var objectIDs: ObjectIDChanges {
        ObjectIDChanges(
            inserted: Set(inserted.map(\.objectID)),
            updated: Set(updated.map(\.objectID)),
            deleted: Set(deleted.map(\.objectID)),
            refreshed: Set(refreshed.map(\.objectID)),
            invalidatesAll: !invalidatedAll.isEmpty
        )
    }
}
