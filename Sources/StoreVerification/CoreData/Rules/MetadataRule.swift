package import StoreFormat

/// `Z_METADATA` has exactly one row, with a UUID and a property list.
struct MetadataRule: CoreDataRule {
    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws {
        let table = "Z_METADATA"
        let rows = try store.count("SELECT count(*) FROM Z_METADATA")
        if rows != 1 {
            findings.report(.metadataRows, .error, "the metadata has \(rows) rows instead of one", table: table)
        }
        guard rows > 0 else { return }
        if store.metadata.uuid.isEmpty {
            findings.report(.metadataIncomplete, .error, "the metadata names no store UUID", table: table)
        }
        if store.metadata.rawPropertyList.isEmpty {
            findings.report(.metadataIncomplete, .error, "the metadata has no property list", table: table)
        } else if store.metadata.values.isEmpty {
            findings.report(
                .metadataIncomplete,
                .error,
                "the property list of the metadata is unreadable",
                table: table
            )
        }
    }
}

extension Finding.Code {
    /// The metadata has no row, or several.
    package static let metadataRows = Self(rawValue: "metadataRows")
    /// The metadata lacks its UUID or a readable property list.
    package static let metadataIncomplete = Self(rawValue: "metadataIncomplete")
}
