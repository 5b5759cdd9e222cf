internal import FoundationEssentials
package import StoreAccess

/// The metadata of a Core Data store: the one row of `Z_METADATA`.
public struct StoreMetadata: Hashable, Sendable {
    /// The store's UUID, as in its object URIs and history tokens; empty if the row has none.
    public let uuid: String
    /// Every key of the property list; empty if the list is missing or cannot be decoded.
    public let values: [String: PropertyListValue]
    /// The property list byte for byte, so that unknown content survives; empty if it is missing.
    public let rawPropertyList: [UInt8]

    public init(uuid: String, values: [String: PropertyListValue], rawPropertyList: [UInt8] = []) {
        self.uuid = uuid
        self.values = values
        self.rawPropertyList = rawPropertyList
    }

    /// The build number of the framework that wrote the store (`NSPersistenceFrameworkVersion`).
    public var frameworkVersion: Int64? {
        if case .integer(let version) = values["NSPersistenceFrameworkVersion"] { version } else { nil }
    }

    /// The 32-byte version hash of each entity of the model (`NSStoreModelVersionHashes`).
    public var entityVersionHashes: [String: [UInt8]] {
        guard case .dictionary(let hashes) = values["NSStoreModelVersionHashes"] else { return [:] }
        return hashes.compactMapValues { if case .data(let bytes) = $0 { bytes } else { nil } }
    }
}

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

extension StoreMetadata {
    /// The digest that the store records for its model (`NSStoreModelVersionHashesDigest`); older frameworks record none.
    package var recordedModelDigest: String? { string("NSStoreModelVersionHashesDigest") }

    /// The checksum that the store records for its model (`NSStoreModelVersionChecksumKey`); only new frameworks do.
    package var recordedModelChecksum: String? { string("NSStoreModelVersionChecksumKey") }

    /// The expected `NSStoreModelVersionHashesDigest`: the SHA-512 of each entity's name and hash, in byte order of
    /// names.
    package var modelDigest: String {
        var hash = SHA512()
        for (name, bytes) in sortedHashes {
            hash.update(Array(name.utf8))
            hash.update(bytes)
        }
        return Data(hash.digest).base64EncodedString()
    }

    /// The expected `NSStoreModelVersionChecksumKey`: the SHA-256 of the entities' hashes, in byte order of names.
    package var modelChecksum: String {
        var hash = SHA256()
        for (_, bytes) in sortedHashes { hash.update(bytes) }
        return Data(hash.digest).base64EncodedString()
    }

    private var sortedHashes: [(key: String, value: [UInt8])] {
        entityVersionHashes.sorted { ManagedObjectModel.inByteOrder($0.key, $1.key) }
    }

    private func string(_ key: String) -> String? {
        if case .string(let text) = values[key] { text } else { nil }
    }
}

extension StoreSchema {
    /// True for one of Core Data's own tables: numbers, metadata, history, and CloudKit's mirror.
    package static func isCoreDataBook(_ name: String) -> Bool {
        let name = name.uppercased()
        return name.hasPrefix("ANSCK")
            || ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE", "ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]
                .contains(name)
    }
}
