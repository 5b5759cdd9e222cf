/// What a save of a context wrote; it may leave the context, and is the input of `mergeChanges(fromContextDidSave:)`.
public struct ContextDidSave: Sendable {
    /// The objects by their permanent IDs.
    public let objectIDs: ObjectIDChanges
    /// The context that saved.
    public let context: ObjectIdentifier
    public let contextName: String?
    /// The number of the history transaction in each store with history tracking, by the store's UUID.
    public let transactions: [String: Int64]
    /// Pairs of a new object's temporary ID, which child contexts may still use, and its permanent ID.
    let permanentIDs: [(ManagedObjectID, ManagedObjectID)]

    /// The pairs as a dictionary.
    var renamedIDs: [ManagedObjectID: ManagedObjectID] { Dictionary(permanentIDs) { $1 } }

    public var insertedObjectIDs: Set<ManagedObjectID> { objectIDs.inserted }
    public var updatedObjectIDs: Set<ManagedObjectID> { objectIDs.updated }
    public var deletedObjectIDs: Set<ManagedObjectID> { objectIDs.deleted }
}

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
