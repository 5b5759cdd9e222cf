public import StoreFormat

/// One object's change in a transaction.
public struct PersistentHistoryChange: Sendable {
    public enum ChangeType: Sendable {
        case insert
        case update
        case delete
    }

    /// The number of the change.
    public let changeID: Int64
    public let changedObjectID: ManagedObjectID
    public let changeType: ChangeType
    /// The names of the properties that an update changed; nil for other changes, and if the store did not record them.
    public let updatedProperties: Set<String>?
    /// To-many relationships of which at least one changed, if the store did not record which.
    public let possiblyUpdatedProperties: Set<String>
    /// The values of a deleted object that history preserved.
    public let tombstone: [String: AttributeValue]
}
