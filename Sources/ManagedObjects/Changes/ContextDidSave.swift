/// What a save of a context has written; it may go anywhere, and to `mergeChanges(fromContextDidSave:)`.
public struct ContextDidSave: Sendable {
    /// The objects by their permanent ids.
    public let objectIDs: ObjectIDChanges
    /// The context that saved.
    public let context: ObjectIdentifier
    public let contextName: String?
    /// The number of the history transaction in each store that keeps a history, by the store's UUID.
    public let transactions: [String: Int64]
    /// The permanent ids of new objects by their temporary ones, which child contexts may still use.
    let permanentIDs: [(ManagedObjectID, ManagedObjectID)]

    /// The same, to look one up.
    var renamedIDs: [ManagedObjectID: ManagedObjectID] { Dictionary(permanentIDs) { $1 } }

    public var insertedObjectIDs: Set<ManagedObjectID> { objectIDs.inserted }
    public var updatedObjectIDs: Set<ManagedObjectID> { objectIDs.updated }
    public var deletedObjectIDs: Set<ManagedObjectID> { objectIDs.deleted }
}
