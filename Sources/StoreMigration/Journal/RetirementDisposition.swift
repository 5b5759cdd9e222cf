import StoreAccess

/// What becomes of a store that is no longer used.
enum RetirementDisposition {
    /// The store is archived and removed.
    case archived
    /// The store is kept under a name that shows its disposition.
    case withdrawn
}

extension RetirementDisposition {
    /// The store's name after it is renamed, before any of its files is removed.
    ///
    /// It has an extension, because the folder of external files omits it: so the folder's name also contains the
    /// transaction ID and is unique to this store.
    func name(of old: StoreLocation, transaction: String) -> String {
        label(of: old, transaction: transaction) + Self.fileNameEnd
    }

    private static let fileNameEnd = ".sqlite"

    /// The disposition and the transaction ID; a long store name is cut, so that sidecar names fit beside it.
    func label(of old: StoreLocation, transaction: String) -> String {
        let end = mark + transaction
        let room = ReceiptFile.longestStoreName - end.utf8.count - Self.fileNameEnd.utf8.count
        var name = old.name
        while name.utf8.count > room { name.removeLast() }
        return name + end
    }

    /// The part of these names between the store's name and the transaction ID.
    var mark: String { self == .archived ? ".retired-" : ".withdrawn-" }
}
