import ChangeMerging
import SafeFiles
import StoreFormat

/// The addresses that objects of an old store have in the store they were merged into, read from a merge's records.
struct RekeyedAddresses {
    /// More than these are not held in memory: who asks is told to refresh everything instead.
    private static let most = 100_000

    private var addresses: [ObjectURI: ObjectURI] = [:]
    private let stores: (old: String?, new: String?)
    /// False when there are more than can be held.
    private(set) var isComplete = true

    /// `stores` are the UUIDs of the old store and of the one it was merged into.
    init(of epoch: String, in folder: Directory, stores: (old: String?, new: String?)) throws {
        self.stores = stores
        try RekeyedLines.forEach(in: folder, named: MergeRecords.name(of: .rekeyed, epoch)) { object in
            addresses[object.old] = object.new
            isComplete = addresses.count <= Self.most
            return isComplete
        }
    }

    /// Where an object of the old store is now.
    subscript(_ address: ObjectURI) -> ObjectURI {
        if let found = addresses[address] { return found }
        guard let new = stores.new, address.storeUUID == stores.old, stores.old != new else { return address }
        return ObjectURI(storeUUID: new, entity: address.entity, primaryKey: address.primaryKey)
    }
}
