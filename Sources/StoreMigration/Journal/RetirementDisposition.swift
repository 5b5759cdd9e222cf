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

    fileprivate static let fileNameEnd = ".sqlite"

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

/// The name of a store that a run renamed: the former name, the disposition, and the transaction ID.
struct RunName {
    private static let digits = 32

    let store: String
    let transaction: String
    let isWithdrawn: Bool

    /// Nil for the name of any other file.
    init?(ofStore name: String) {
        let end = RetirementDisposition.fileNameEnd
        guard name.hasSuffix(end) else { return nil }
        let label = String(name.dropLast(end.count))
        for disposition in [RetirementDisposition.withdrawn, .archived] {
            guard let transaction = Self.transaction(atEndOf: label, after: disposition.mark) else { continue }
            store = String(label.dropLast(disposition.mark.count + Self.digits))
            self.transaction = transaction
            isWithdrawn = disposition == .withdrawn
            return
        }
        return nil
    }

    /// The name of a folder that ends in a transaction ID after `mark`.
    init?(suffixOf name: String, after mark: String) {
        guard let transaction = Self.transaction(atEndOf: name, after: mark) else { return nil }
        (store, isWithdrawn) = (String(name.dropLast(Self.digits)), false)
        self.transaction = transaction
    }

    private static func transaction(atEndOf text: String, after mark: String) -> String? {
        let end = text.suffix(digits)
        guard end.utf8.count == digits, end.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }),
            text.dropLast(digits).hasSuffix(mark)
        else { return nil }
        return String(end)
    }
}
