public import FoundationEssentials
public import StoreFormat
internal import StoreWriting

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

/// A position in the histories of stores: the number of the last transaction seen in each.
public struct PersistentHistoryToken: Hashable, Sendable, Codable {
    private static let dictionaryKey = "NSPersistentHistoryTokenDictionary"
    private static let ancestry = ["_NSPersistentHistoryToken", "NSPersistentHistoryToken", "NSObject"]

    /// The numbers by the stores' UUIDs.
    public var transactionNumbers: [String: Int64]

    public init(transactionNumbers: [String: Int64]) {
        self.transactionNumbers = transactionNumbers
    }

    /// Reads Core Data's own token from an `NSKeyedArchiver` archive.
    public init(archive: Data) throws {
        let reader = try KeyedArchiveReader(PropertyListReader.value(from: [UInt8](archive)))
        guard let root = reader.topObject(), Self.ancestry.contains(root.className),
            let entries = reader.dictionary(root.fields[Self.dictionaryKey])
        else { throw ManagedObjectError(.wrongType, "the archive contains no history token") }
        transactionNumbers = entries.compactMapValues(reader.integer)
    }

    /// The token in the archive format of Core Data's own, as `NSKeyedArchiver` writes it.
    public func archive() -> Data {
        var writer = KeyedArchiveWriter()
        let root = writer.reserve()
        let entries = transactionNumbers.sorted { $0.key < $1.key }
        let keys = entries.map { writer.string($0.key) }
        let numbers = entries.map { writer.value(.integer($0.value)) }
        let dictionary = writer.object(
            ["NSDictionary", "NSObject"],
            ["NS.keys": .array(keys), "NS.objects": .array(numbers)]
        )
        writer.define(root, as: Self.ancestry, [Self.dictionaryKey: dictionary])
        return Data(PropertyListWriter.bytes(of: writer.archive(root: root)))
    }

    /// A token with the later position of both for each store.
    public func advanced(to other: PersistentHistoryToken) -> PersistentHistoryToken {
        PersistentHistoryToken(
            transactionNumbers: transactionNumbers.merging(other.transactionNumbers, uniquingKeysWith: max)
        )
    }
}
