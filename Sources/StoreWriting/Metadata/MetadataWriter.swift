import FoundationEssentials
package import StoreFormat

/// Creates the metadata of a new Core Data store: the property list of `Z_METADATA`.
package enum MetadataWriter {
    /// The metadata key that marks the version hashes as stand-ins (``SyntheticVersionHash``).
    package static let syntheticHashesKey = "StoreMigrateSyntheticVersionHashes"

    /// The framework build that new stores record as their writer: their schema is that of macOS 14.
    package static let frameworkVersion: Int64 = 1344

    /// Returns the metadata of a new store of `model`; keys of `additional` are added and override ours.
    ///
    /// Unless the genuine version hashes of all its entities are given, the store gets stand-ins and a key that marks
    /// them.
    package static func metadata(
        for model: ManagedObjectModel,
        uuid: String,
        versionHashes: [String: [UInt8]] = [:],
        additional: [String: PropertyListValue] = [:]
    ) -> StoreMetadata {
        let isGenuine = !versionHashes.isEmpty && Set(versionHashes.keys) == Set(model.entitiesByName.keys)
        let hashes = isGenuine ? versionHashes : SyntheticVersionHash.hashes(of: model)
        var values: [String: PropertyListValue] = [
            "NSStoreType": .string("SQLite"),
            "NSStoreModelVersionHashes": .dictionary(hashes.mapValues { .data($0) }),
            "NSStoreModelVersionHashesVersion": .integer(3),
            "NSStoreModelVersionIdentifiers": .array(model.versionIdentifiers.map { .string($0) }),
            "NSStoreModelVersionHashesDigest": .string(versionHashesDigest(hashes)),
            "NSStoreModelVersionChecksumKey": .string(versionChecksum(hashes)),
            "NSPersistenceFrameworkVersion": .integer(frameworkVersion),
            "_NSAutoVacuumLevel": .string("2"),
        ]
        if !isGenuine { values[syntheticHashesKey] = .boolean(true) }
        return StoreMetadata(uuid: uuid, values: values.merging(additional) { _, added in added })
    }

    /// Returns `NSStoreModelVersionHashesDigest`: SHA-512 over each entity's name and hash in byte order, in Base64.
    package static func versionHashesDigest(_ hashes: [String: [UInt8]]) -> String {
        var digest = SHA512()
        for (name, hash) in inByteOrder(hashes) {
            digest.update(Array(name.utf8))
            digest.update(hash)
        }
        return Data(digest.digest).base64EncodedString()
    }

    /// Returns `NSStoreModelVersionChecksumKey`: SHA-256 over each entity's hash in byte order of names, in Base64.
    package static func versionChecksum(_ hashes: [String: [UInt8]]) -> String {
        var digest = SHA256()
        for (_, hash) in inByteOrder(hashes) { digest.update(hash) }
        return Data(digest.digest).base64EncodedString()
    }

    private static func inByteOrder(_ hashes: [String: [UInt8]]) -> [(key: String, value: [UInt8])] {
        hashes.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
}
