public import StoreFormat

/// What one transaction did to one object.
public struct PersistentHistoryChange: Sendable {
    public enum ChangeType: Sendable {
        case insert
        case update
        case delete
    }

    /// Its own number.
    public let changeID: Int64
    public let changedObjectID: ManagedObjectID
    public let changeType: ChangeType
    /// The names of the properties that an update changed; nil for anything else, and when the store does not tell.
    public let updatedProperties: Set<String>?
    /// To-many relationships of which at least one changed, where the store does not say which.
    public let possiblyUpdatedProperties: Set<String>
    /// The values that history kept of a deleted object.
    public let tombstone: [String: AttributeValue]
}
