import FoundationEssentials
package import SafeFiles
import StoreAccess
package import StoreStrategies

/// The file beside a shared store that records its origin and how its programs open it.
///
/// It informs people, apps and later runs; nothing trusts it without the journal beside the old store.
package struct Receipt: Hashable, Sendable, Codable {
    private static let mode: UInt32 = 0o644

    /// The version of this format.
    package var version = 1
    package let transaction: String
    /// The old store's path when it was shared.
    package let old: String
    package let storeUUID: String?
    /// The folder of the journals that the caller named; nil when the journal is beside the old store.
    package let state: String?
    /// The digest of the new store when it was shared.
    package let digest: String
    /// The digest of the old store if history was switched on for the new one; otherwise both are equal.
    package let oldDigest: String?
    /// The store's token at that content; nil when other processes may have written before it was read.
    package let token: FileToken?
    /// The other runs that shared a store to this one; each run of a chain is found through this file.
    package private(set) var others: [Origin]?
    /// True when the new store was kept and never received the old one's content; otherwise nil.
    package let keepsNew: Bool?
    /// The other stores with objects that `newest` left where they were when this one was shared; nil for none.
    package let storesLeft: [String]?
    /// What the caller chose for the pair; nil in a receipt of an earlier version.
    package let choices: PairChoices?
    /// How each role opens the store, by the role's name.
    package let descriptions: [String: PersistentStoreDescription]

    /// A run that shared a store to here, the path of that store, and the folder of its journal if the caller named one.
    package struct Origin: Hashable, Sendable, Codable {
        package let transaction: String
        package let old: String
        package var state: String?
    }

    /// The runs that shared a store to this one, the writer of the receipt first.
    package var origins: [Origin] { [Origin(transaction: transaction, old: old, state: state)] + (others ?? []) }

    /// The maximum number of runs that are kept beside the last one.
    private static let mostOthers = 16

    /// True when `run` wrote the receipt or is one of the others.
    package func names(_ run: String) -> Bool { origins.contains { $0.transaction == run } }

    /// The same receipt with other runs, without repeating one; of too many, the first are kept.
    package func adding(_ runs: [Origin]) -> Receipt {
        let added = runs.filter { !names($0.transaction) }
        guard !added.isEmpty else { return self }
        var receipt = self
        receipt.others = Array(((others ?? []) + added).prefix(Self.mostOthers))
        return receipt
    }

    /// Writes the receipt durably beside the store `name`, with the store's group.
    package func write(beside name: String, in folder: Directory) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        try folder.replace(
            ReceiptFile.receiptName(for: name),
            with: [UInt8](encoder.encode(self)) + [0x0A],
            mode: Self.mode
        )
    }

    /// How each role opens the store, as its receipt records; empty without a receipt.
    static func descriptions(of store: StoreLocation) throws -> [StoreRole: PersistentStoreDescription] {
        guard let folder = try Directory.openIfPresent(path: store.folder),
            let receipt = try Receipt(beside: store.name, in: folder)
        else { return [:] }
        return [StoreRole: PersistentStoreDescription](byRoleName: receipt.descriptions)
    }

    /// The receipt beside the store `name`; nil when there is none that can be read.
    ///
    /// Throws after a failure that may pass.
    package init?(beside name: String, in folder: Directory) throws {
        guard let bytes = try ReceiptFile.receipt(beside: name, in: folder),
            let receipt = try? JSONDecoder().decode(Receipt.self, from: Data(bytes))
        else { return nil }
        self = receipt
    }

    package init(
        transaction: String,
        old: String,
        state: String? = nil,
        storeUUID: String?,
        digest: String,
        oldDigest: String? = nil,
        token: FileToken?,
        keepsNew: Bool? = nil,
        storesLeft: [String]? = nil,
        choices: PairChoices? = nil,
        descriptions: [String: PersistentStoreDescription]
    ) {
        self.transaction = transaction
        self.old = old
        self.state = state
        self.storeUUID = storeUUID
        self.digest = digest
        self.oldDigest = oldDigest
        self.token = token
        self.keepsNew = keepsNew
        self.storesLeft = storesLeft
        self.choices = choices
        self.descriptions = descriptions
    }
}
