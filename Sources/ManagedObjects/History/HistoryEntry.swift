public import FoundationEssentials

/// One transaction of a store's history, with its changes counted per entity.
public struct HistoryEntry: Sendable {
    /// The number of objects of one entity that a transaction changed.
    public struct Changes: Hashable, Sendable {
        /// The concrete entity's name; a number where the store no longer has that entity.
        public let entity: String
        public fileprivate(set) var inserted: Int64 = 0
        public fileprivate(set) var updated: Int64 = 0
        public fileprivate(set) var deleted: Int64 = 0
    }

    public let transactionNumber: Int64
    public let timestamp: Date?
    public let author: String?
    public let contextName: String?
    public let bundleID: String?
    /// The name of the process.
    public let processID: String?
    /// In the order in which the transaction first changed each entity.
    public internal(set) var changes: [Changes] = []

    mutating func count(_ kind: PersistentHistoryChange.ChangeType, of entity: String) {
        var index = changes.firstIndex { $0.entity == entity } ?? changes.endIndex
        if index == changes.endIndex {
            changes.append(Changes(entity: entity))
            index = changes.endIndex - 1
        }
        switch kind {
        case .insert: changes[index].inserted += 1
        case .update: changes[index].updated += 1
        case .delete: changes[index].deleted += 1
        }
    }
}
