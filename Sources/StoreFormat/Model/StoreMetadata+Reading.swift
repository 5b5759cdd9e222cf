extension StoreMetadata {
    /// The maximum size of a property list; genuine ones have a few kilobytes.
    private static let propertyListLimit: Int64 = 64 << 20

    /// Reads the metadata; nil if the store has none and so is not a Core Data store.
    ///
    /// If the property list is missing or cannot be decoded, `values` is empty and the store remains readable.
    package init?(reading connection: StoreConnection) throws {
        guard try Self.isPresent(connection) else { return nil }
        var result: StoreMetadata?
        // The row with the smallest version comes first; the verifier reports further rows.
        let sql = """
            SELECT Z_UUID, CASE WHEN length(Z_PLIST) <= ? THEN Z_PLIST END
            FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1
            """
        try connection.forEachRow(sql, [.integer(Self.propertyListLimit)]) { row in
            let bytes = row.withBytes(1) { [UInt8]($0) }
            result = StoreMetadata(uuid: row.text(0) ?? "", propertyList: bytes)
        }
        guard let result else { return nil }
        self = result
    }

    /// Decodes the property list as far as that is possible.
    package init(uuid: String, propertyList: [UInt8]) {
        var values: [String: PropertyListValue] = [:]
        if case .dictionary(let decoded)? = try? PropertyListReader.value(from: propertyList) { values = decoded }
        self.init(uuid: uuid, values: values, rawPropertyList: propertyList)
    }

    private static func isPresent(_ connection: StoreConnection) throws -> Bool {
        var columns: Set<String> = []
        try connection.forEachRow("SELECT lower(name) FROM pragma_table_info('Z_METADATA')") { row in
            columns.insert(row.text(0) ?? "")
        }
        return columns.isSuperset(of: ["z_version", "z_uuid", "z_plist"])
    }
}
