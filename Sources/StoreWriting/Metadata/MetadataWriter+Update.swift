package import StoreFormat

extension MetadataWriter {
    /// Prefixes of Core Data's own keys, which identify the store.
    private static let reservedPrefixes = [
        "NSStore", "NSPersistence", "NSPersistentStore", "NSPersistentHistory", "_NS",
    ]

    /// True for a key that belongs to no application.
    package static func isReserved(_ key: String) -> Bool {
        key == syntheticHashesKey || reservedPrefixes.contains { key.hasPrefix($0) }
    }

    /// Sets an application's keys in the metadata of a store, or removes those whose value is nil; all others stay.
    ///
    /// Call it in the transaction of the save that it belongs to (COREDATA §1.2).
    package static func update(_ changes: [String: PropertyListValue?], in connection: StoreConnection) throws {
        if let reserved = changes.keys.sorted().first(where: isReserved) {
            throw StoreError(
                .incompatible,
                path: connection.location.path,
                "the metadata key \(reserved) is Core Data's own; choose another name"
            )
        }
        guard let metadata = try StoreMetadata(reading: connection), !metadata.values.isEmpty else {
            throw StoreError(.damaged, path: connection.location.path, "the store's metadata cannot be read")
        }
        var values = metadata.values
        for (key, value) in changes { values[key] = value }
        guard values != metadata.values else { return }
        let bytes = PropertyListWriter.bytes(of: .dictionary(values))
        // Updates the row that was read: the one with the smallest version.
        try connection.run(
            "UPDATE Z_METADATA SET Z_PLIST = ? WHERE Z_VERSION = (SELECT min(Z_VERSION) FROM Z_METADATA)",
            [.blob(bytes)]
        )
    }
}
