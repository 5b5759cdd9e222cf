extension StoreMetadata {
    /// The greatest property list that is decoded; genuine ones have a few kilobytes.
    private static let propertyListLimit: Int64 = 64 << 20

    /// Reads the metadata; nil when the store has none and so is not one of Core Data's.
    ///
    /// A property list that is missing or cannot be decoded leaves `values` empty: the store is still what it is.
    package init?(reading connection: StoreConnection) throws {
        guard try Self.isPresent(connection) else { return nil }
        var result: StoreMetadata?
        // The smallest version comes first; more than one row is for the verifier to report.
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
