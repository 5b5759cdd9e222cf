import ChangeMerging
import SafeFiles
import StoreFormat

/// Maps addresses of an old store's objects to the merged store, from a merge's records.
struct RekeyedAddresses {
    /// The maximum number in memory; beyond it, consumers must refresh everything.
    private static let most = 100_000

    private var addresses: [ObjectURI: ObjectURI] = [:]
    private let stores: (old: String?, new: String?)
    /// False when there are more addresses than the maximum.
    private(set) var isComplete = true

    /// `stores` are the UUIDs of the old store and of the one it was merged into.
    ///
    /// A damaged list is incomplete here, because the merge is committed; the next merge reports the damage.
    init(of merging: JournalRecord.Merging, in folder: Directory, stores: (old: String?, new: String?)) throws {
        self.stores = stores
        do {
            try RekeyedLines.forEach(in: folder, named: MergeRecords.name(of: .rekeyed, merging.epoch)) { object in
                addresses[object.old] = object.new
                isComplete = addresses.count <= Self.most
                return isComplete
            }
            if let digest = merging.addresses, isComplete {
                isComplete = addresses.isEmpty == (digest == RekeyedLines.noFile)
            }
        } catch let error as MigrationError where error.outcome == .verificationFailed {
            isComplete = false
        }
    }

    /// The current address of an object of the old store.
    subscript(_ address: ObjectURI) -> ObjectURI {
        if let found = addresses[address] { return found }
        guard let new = stores.new, address.storeUUID == stores.old, stores.old != new else { return address }
        return ObjectURI(storeUUID: new, entity: address.entity, primaryKey: address.primaryKey)
    }
}
