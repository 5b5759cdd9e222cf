import SafeFiles
package import StoreAccess
public import StoreFormat
package import StoreWriting

/// The model version that a store is migrated to: of a model file, or of another store.
public struct MigrationTarget: Hashable, Sendable {
    public let model: ManagedObjectModel
    /// The version's name; nil for a model without versions, and for a store.
    public let versionName: String?
    /// The genuine version hash of each entity; empty if the model's form has none.
    public let entityVersionHashes: [String: [UInt8]]
    /// The models of the other versions in the same folder that have hashes, by those hashes.
    package let otherVersions: [String: [String: [UInt8]]]
    /// The model cache of the store that is the target, byte for byte.
    package let modelCache: [UInt8]?
    /// The relationships that name the join tables of that store.
    package let joinTableOwners: Set<StoreShape.JoinTableOwner>
    /// The path of the model, or of the store.
    public let path: String

    /// Reads the model at a path: a model file, a folder of versions, or a store with its model.
    ///
    /// `version` names a version of a folder; the default is the current one.
    public init(path: String, version: String? = nil, lockTimeout: Duration = .seconds(20)) throws {
        let location = StoreLocation(path: path)
        guard let folder = try? Directory.open(path: location.folder), (try? location.isStore(in: folder)) == true
        else {
            self.init(try ModelFile(path: path, version: version), path: path)
            return
        }
        guard version == nil else {
            throw StoreError(.incompatible, path: path, "a store has no versions of its model")
        }
        self = try StoreReader(lockTimeout: lockTimeout)
            .read(location) { try MigrationTarget(store: $0.connection, path: path) }
    }

    /// The version of a model file.
    package init(_ file: ModelFile, path: String) {
        self.path = path
        model = file.model
        versionName = file.versionName
        entityVersionHashes = file.entityVersionHashes
        otherVersions = file.otherVersions
        (modelCache, joinTableOwners) = (nil, [])
    }

    /// A model without a file, with its version hashes if they are known.
    package init(_ model: ManagedObjectModel, entityVersionHashes: [String: [UInt8]]) {
        self.model = model
        self.entityVersionHashes = entityVersionHashes
        (path, versionName, otherVersions, modelCache, joinTableOwners) = ("", nil, [:], nil, [])
    }

    /// The model of an open store.
    package init(store connection: StoreConnection, path: String) throws {
        guard let layout = try StoreLayout(reading: connection),
            let metadata = try StoreMetadata(reading: connection)
        else {
            throw StoreError(.incompatible, path: path, "the store keeps no copy of its model")
        }
        self.path = path
        model = layout.model
        versionName = nil
        entityVersionHashes =
            metadata.values[MetadataWriter.syntheticHashesKey] == nil ? metadata.entityVersionHashes : [:]
        otherVersions = [:]
        modelCache = try connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")?.blob
        joinTableOwners = Set(layout.joinTables.compactMap(\.owner))
    }

    /// True if a store of one of the two versions has the other.
    package func isSameVersion(as other: MigrationTarget) -> Bool {
        model == other.model && entityVersionHashes == other.entityVersionHashes
    }

    /// True if the hashes are those of every entity of the model.
    public var hasGenuineHashes: Bool {
        !entityVersionHashes.isEmpty && Set(entityVersionHashes.keys) == Set(model.entitiesByName.keys)
    }
}

extension StoreLayout.JoinTable {
    /// The relationship after which the table is named; nil if neither name fits.
    var owner: StoreShape.JoinTableOwner? {
        let suffix = name.uppercased().dropFirst(2).drop { $0.isASCII && $0.isNumber }
        return [first, second].first { $0.relationship.uppercased() == suffix }
            .map { StoreShape.JoinTableOwner(entity: $0.entity, relationship: $0.relationship) }
    }
}
