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
