import FoundationEssentials
package import SafeFiles
import StoreFormat
package import StoreStrategies

/// The file beside a shared store that says where it came from and how its programs open it.
///
/// It is written for people, apps and later runs; nothing trusts it without the journal beside the old store.
package struct Receipt: Hashable, Sendable, Codable {
    private static let mode: UInt32 = 0o644
    private static let greatestSize: Int64 = 1 << 20

    /// The version of this format.
    package var version = 1
    package let transaction: String
    /// The old store's path when it was shared.
    package let old: String
    package let storeUUID: String?
    package let digest: String
    /// How each role opens the store, by the role's name.
    package let descriptions: [String: PersistentStoreDescription]

    /// The receipt's file name beside the store `name`.
    package static func name(for name: String) -> String { ".\(name).store-migrate.json" }

    /// Writes the receipt durably beside the store `name`, with the store's group.
    package func write(beside name: String, in folder: Directory) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        try folder.replace(Self.name(for: name), with: [UInt8](encoder.encode(self)) + [0x0A], mode: Self.mode)
    }

    /// The receipt beside the store `name`; nil when there is none that can be read.
    package init?(beside name: String, in folder: Directory) {
        guard let file = try? folder.openFile(Self.name(for: name), for: .reading),
            let size = try? file.status().size, size <= Self.greatestSize
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(size))
        guard let count = try? bytes.withUnsafeMutableBytes({ try file.read(into: $0, at: 0) }),
            let receipt = try? JSONDecoder().decode(Receipt.self, from: Data(bytes.prefix(count)))
        else { return nil }
        self = receipt
    }

    package init(
        transaction: String,
        old: String,
        storeUUID: String?,
        digest: String,
        descriptions: [StoreRole: PersistentStoreDescription]
    ) {
        self.transaction = transaction
        self.old = old
        self.storeUUID = storeUUID
        self.digest = digest
        self.descriptions = Dictionary(
            uniqueKeysWithValues: descriptions.map { ($0.key.description, $0.value) }
        )
    }
}
