import FoundationEssentials
package import SafeFiles
import StoreFormat
package import StoreStrategies

/// The file beside a shared store that says where it came from and how its programs open it.
///
/// It is written for people, apps and later runs; nothing trusts it without the journal beside the old store.
package struct Receipt: Hashable, Sendable, Codable {
    private static let mode: UInt32 = 0o644

    /// The version of this format.
    package var version = 1
    package let transaction: String
    /// The old store's path when it was shared.
    package let old: String
    package let storeUUID: String?
    /// The content of the new store when it was shared.
    package let digest: String
    /// The content of the old store, where history was switched on for the new one; else it is the same.
    package let oldDigest: String?
    /// The store as it was when it held that; nil when others may have written to it before it could be asked.
    package let token: FileToken?
    /// How each role opens the store, by the role's name.
    package let descriptions: [String: PersistentStoreDescription]

    /// Writes the receipt durably beside the store `name`, with the store's group.
    package func write(beside name: String, in folder: Directory) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        try folder.replace(
            RecordedContent.receiptName(for: name),
            with: [UInt8](encoder.encode(self)) + [0x0A],
            mode: Self.mode
        )
    }

    /// The receipt beside the store `name`; nil when there is none that can be read.
    package init?(beside name: String, in folder: Directory) {
        guard let bytes = RecordedContent.receipt(beside: name, in: folder),
            let receipt = try? JSONDecoder().decode(Receipt.self, from: Data(bytes))
        else { return nil }
        self = receipt
    }

    package init(
        transaction: String,
        old: String,
        storeUUID: String?,
        digest: String,
        oldDigest: String? = nil,
        token: FileToken?,
        descriptions: [String: PersistentStoreDescription]
    ) {
        self.transaction = transaction
        self.old = old
        self.storeUUID = storeUUID
        self.digest = digest
        self.oldDigest = oldDigest
        self.token = token
        self.descriptions = descriptions
    }
}
