/// What happened in a context since it was last told; it lives and dies inside that context.
public struct ObjectsDidChange {
    public var inserted: Set<ManagedObject> = []
    public var updated: Set<ManagedObject> = []
    public var deleted: Set<ManagedObject> = []
    /// Objects whose values were read again and that were not changed here.
    public var refreshed: Set<ManagedObject> = []
    /// The ids of all objects that the context let go; observers start anew.
    public var invalidatedAll: [ManagedObjectID] = []
    /// Every object that a merge said was inserted, updated or deleted elsewhere, whether or not this context knew it.
    public var mergedIDs: Set<ManagedObjectID> = []

    /// Every object that a save of this context wrote; nothing else of it need be new.
    public var savedIDs: Set<ManagedObjectID> = []

    /// True when the stores are to be looked at anew, for who knows what others did to them.
    public var rereadsStores = false

    public var isEmpty: Bool {
        inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty && invalidatedAll.isEmpty
            && mergedIDs.isEmpty && savedIDs.isEmpty && !rereadsStores
    }

    /// The same as ids, which may leave the context.
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
