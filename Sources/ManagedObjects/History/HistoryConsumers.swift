internal import StoreFormat

/// Those who read a store's history, with the last transaction that each has dealt with.
///
/// They are kept in the store's metadata, and so travel with it and change in one transaction with the history. A program
/// that knows nothing of them may put back metadata that it read earlier, as Core Data does for an app that sets some. So
/// the history's own strings name each consumer too: one that only they know has dealt with nothing, as far as anybody
/// can tell. The first generation of histories has no such strings, and there the metadata is all there is.
struct HistoryConsumers {
    static let metadataKey = "StoreMigrateHistoryConsumers"
    private static let prefix = "StoreMigrateHistoryConsumer "

    var transactionNumbers: [String: Int64]

    /// Reads the consumers of a store.
    init(reading connection: StoreConnection) throws {
        transactionNumbers = [:]
        if case .dictionary(let values)? = try StoreMetadata(reading: connection)?.values[Self.metadataKey] {
            for case (let name, .integer(let number)) in values { transactionNumbers[name] = number }
        }
        let table = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'ATRANSACTIONSTRING'"
        guard try connection.value(table) != nil else { return }
        try connection.forEachRow(
            "SELECT ZNAME FROM ATRANSACTIONSTRING WHERE substr(ZNAME, 1, ?) = ?",
            [.integer(Int64(Self.prefix.count)), .text(Self.prefix)]
        ) { row in
            guard let string = row.text(0) else { return }
            let name = String(String.UnicodeScalarView(string.unicodeScalars.dropFirst(Self.prefix.count)))
            if transactionNumbers[name] == nil { transactionNumbers[name] = 0 }
        }
    }

    /// What the metadata holds of them; nil for none.
    var propertyList: PropertyListValue? {
        transactionNumbers.isEmpty ? nil : .dictionary(transactionNumbers.mapValues { .integer($0) })
    }

    /// The string of the history that names a consumer.
    static func string(for consumer: String) -> String { prefix + consumer }
}
