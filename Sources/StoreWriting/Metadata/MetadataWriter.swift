import FoundationEssentials
package import StoreAccess
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

/// Stand-ins for the 32-byte version hashes of entities, whose algorithm Apple does not publish.
///
/// Like the genuine ones, they distinguish models and are equal for equal entities. Core Data itself would reject a
/// store with them as one of another model. Such a store is marked in its metadata
/// (``MetadataWriter/syntheticHashesKey``).
package enum SyntheticVersionHash {
    /// Returns the stand-in for each entity of `model`: SHA-256 of a text that describes the entity with its inherited
    /// properties.
    package static func hashes(of model: ManagedObjectModel) -> [String: [UInt8]] {
        model.entitiesByName.mapValues { SHA256.digest(of: Array(text(of: $0, in: model).utf8)) }
    }

    private static func text(of entity: EntityDescription, in model: ManagedObjectModel) -> String {
        var lines = ["entity \(entity.name) \(entity.superentity ?? "") \(entity.isAbstract)"]
        if let modifier = entity.versionHashModifier { lines.append("modifier \(modifier)") }
        for ancestor in model.lineage(of: entity.name) {
            lines += ancestor.attributes.map(text).sorted()
            lines += ancestor.relationships.map(text).sorted()
            lines += ancestor.uniquenessConstraints.map { "unique \($0.joined(separator: " "))" }.sorted()
        }
        return lines.joined(separator: "\n")
    }

    private static func text(of attribute: AttributeDescription) -> String {
        "attribute \(attribute.name) \(attribute.type.rawValue) \(attribute.isOptional) \(attribute.isTransient) "
            + "\(attribute.isDerived) \(attribute.allowsExternalBinaryDataStorage) "
            + "\(attribute.preservesValueInHistoryOnDeletion) \(attribute.valueTransformerName ?? "")"
            + (attribute.derivationExpression.map { " " + $0 } ?? "")
            + (attribute.versionHashModifier.map { " modifier " + $0 } ?? "")
    }

    private static func text(of relationship: RelationshipDescription) -> String {
        "relationship \(relationship.name) \(relationship.destination) \(relationship.inverse ?? "") "
            + "\(relationship.minCount) \(relationship.maxCount) \(relationship.isOrdered) \(relationship.isOptional) "
            + "\(relationship.isTransient) \(relationship.deleteRule.rawValue)"
            + (relationship.versionHashModifier.map { " modifier " + $0 } ?? "")
    }
}

/// Generates UUIDs and bytes from a seed, so that building a store twice gives the same store.
package struct SeededIdentifiers: Sendable {
    private let seed: [UInt8]
    private var count: UInt64 = 0

    package init(seed: String) {
        self.seed = SHA256.digest(of: Array(seed.utf8))
    }

    /// Random identifiers, unique in practice, for stores that are not built from a recipe.
    package static func random() -> SeededIdentifiers {
        var generator = SystemRandomNumberGenerator()
        return SeededIdentifiers(seed: "\(generator.next()) \(generator.next()) \(generator.next())")
    }

    /// Returns the next UUID's sixteen bytes; version and variant are those of a random UUID.
    package mutating func next() -> [UInt8] {
        count += 1
        var input = seed
        for shift in stride(from: 56, through: 0, by: -8) { input.append(UInt8(truncatingIfNeeded: count >> shift)) }
        return Self.uuid(from: Array(SHA256.digest(of: input).prefix(16)))
    }

    /// Returns the next UUID as text, in upper case as Core Data writes it.
    package mutating func nextText() -> String {
        Self.text(of: next())
    }

    /// Returns the UUID of a name, independent of how many UUIDs were generated before.
    package func identifier(named name: String) -> [UInt8] {
        Self.uuid(from: Array(SHA256.digest(of: seed + Array(name.utf8)).prefix(16)))
    }

    /// Returns the 36-character text of a UUID's sixteen bytes.
    package static func text(of bytes: [UInt8]) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var characters: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { characters.append(UInt8(ascii: "-")) }
            characters.append(digits[Int(byte >> 4)])
            characters.append(digits[Int(byte & 0x0F)])
        }
        return String(decoding: characters, as: UTF8.self)
    }

    private static func uuid(from bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return bytes
    }
}
