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
