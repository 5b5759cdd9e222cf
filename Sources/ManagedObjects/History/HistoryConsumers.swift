internal import StoreFormat

/// Those who read a store's history, with the last transaction that each has dealt with.
///
/// They are kept in the store's metadata, and so travel with it and change in one transaction with the history.
struct HistoryConsumers {
    static let metadataKey = "StoreMigrateHistoryConsumers"

    var transactionNumbers: [String: Int64]

    /// Reads the consumers of a store.
    init(reading connection: StoreConnection) throws {
        transactionNumbers = [:]
        guard case .dictionary(let values)? = try StoreMetadata(reading: connection)?.values[Self.metadataKey] else {
            return
        }
        for case (let name, .integer(let number)) in values { transactionNumbers[name] = number }
    }

    /// What the metadata holds of them; nil for none.
    var propertyList: PropertyListValue? {
        transactionNumbers.isEmpty ? nil : .dictionary(transactionNumbers.mapValues { .integer($0) })
    }
}
