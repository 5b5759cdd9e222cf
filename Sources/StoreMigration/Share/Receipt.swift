import FoundationEssentials
package import SafeFiles
package import StoreFormat
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
    /// The other runs whose old stores lead here: in a chain of shares each of them is known by this file.
    package private(set) var others: [Origin]?
    /// True where the new store was kept as it was, and never took what the old one holds; nil elsewhere.
    package let keepsNew: Bool?
    /// How each role opens the store, by the role's name.
    package let descriptions: [String: PersistentStoreDescription]

    /// A run that shared a store to here, and the path of that store.
    package struct Origin: Hashable, Sendable, Codable {
        package let transaction: String
        package let old: String
    }

    /// The runs that lead here, the one that wrote the receipt first.
    package var origins: [Origin] { [Origin(transaction: transaction, old: old)] + (others ?? []) }

    /// No more runs than these are remembered beside the last one.
    private static let mostOthers = 16

    /// True when a run is the one that wrote the receipt, or one of the others that lead here.
    package func names(_ run: String) -> Bool { origins.contains { $0.transaction == run } }

    /// The same receipt, in which the runs that the present one beside `name` tells of are remembered but for `former`,
    /// which this one goes on from.
    package func remembering(besides former: String?, beside name: String, in folder: Directory) -> Receipt {
        guard let present = Receipt(beside: name, in: folder) else { return self }
        let others = present.origins.filter { ![former, transaction].contains($0.transaction) }
        var receipt = self
        receipt.others = others.isEmpty ? nil : Array(others.prefix(Self.mostOthers))
        return receipt
    }

    /// The same receipt, with the runs that led to the old store: where that one is out of use, they lead here.
    package func remembering(
        predecessorsOf old: StoreLocation,
        in folder: Directory,
        policy: ShareOptions.OldStorePolicy
    ) -> Receipt {
        policy == .fence ? remembering(besides: nil, beside: old.name, in: folder) : self
    }

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
        keepsNew: Bool? = nil,
        descriptions: [String: PersistentStoreDescription]
    ) {
        self.transaction = transaction
        self.old = old
        self.storeUUID = storeUUID
        self.digest = digest
        self.oldDigest = oldDigest
        self.token = token
        self.keepsNew = keepsNew
        self.descriptions = descriptions
    }
}
