internal import StoreFormat

/// The consumers of a store's history, with the last transaction that each has acknowledged.
///
/// The store's metadata contains them, so they move with the store and change in one transaction with the history. A
/// program unaware of them may write back older metadata, as Core Data does for an app that sets metadata. Therefore
/// the history's string table names each consumer too. A consumer found only there counts as having acknowledged
/// nothing. The first generation of histories has no string table, only the metadata.
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

    /// The consumers as a metadata value; nil for none.
    var propertyList: PropertyListValue? {
        transactionNumbers.isEmpty ? nil : .dictionary(transactionNumbers.mapValues { .integer($0) })
    }

    /// The entry for a consumer in the history's string table.
    static func string(for consumer: String) -> String { prefix + consumer }
}
