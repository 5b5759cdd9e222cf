public import FoundationEssentials
internal import StoreFormat
internal import StoreWriting

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
