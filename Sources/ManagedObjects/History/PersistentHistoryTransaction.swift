public import FoundationEssentials

/// One save, as recorded in a store's history.
public struct PersistentHistoryTransaction: Sendable {
    public let storeID: String
    public let transactionNumber: Int64
    public let timestamp: Date?
    public let author: String?
    public let contextName: String?
    public let bundleID: String?
    /// The name of the process.
    public let processID: String?
    public let changes: [PersistentHistoryChange]

    /// The position right after the transaction.
    public var token: PersistentHistoryToken {
        PersistentHistoryToken(transactionNumbers: [storeID: transactionNumber])
    }

    /// The changed objects, for `mergeChanges(fromRemoteContextSave:into:)`.
    public func objectIDNotification() -> ObjectIDChanges {
        var result = ObjectIDChanges()
        for change in changes {
            switch change.changeType {
            case .insert: result.inserted.insert(change.changedObjectID)
            case .update: result.updated.insert(change.changedObjectID)
            case .delete: result.deleted.insert(change.changedObjectID)
            }
        }
        return result
    }
}
