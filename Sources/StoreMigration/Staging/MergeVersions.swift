import CSQLite
import ChangeMerging
import ModelMigration
import SafeFiles
public import StoreAccess
import StoreFormat

extension Finding.Code {
    /// The new model version lacks properties or entities of migrated or merged rows; their values are only in the former
    /// or old store.
    public static let notInNewVersion = Finding.Code(rawValue: "notInNewVersion")
}

/// Brings the sources of a merge to the model version of the receiving store, in copies.
///
/// The app migrates the shared store, and a program of the former version goes on writing to the old one. Its rows are
/// merged as the app's migration would have carried them: base and source are copied, migrated and proved. The sources
/// themselves are only read. Stores of one version, and plain ones, are merged as they are.
struct MergeVersions {
    /// The sources, as the merge reads them.
    struct Sources {
        let base: MergePlace?
        let source: MergePlace
        /// The digest of the migrated source; nil for one that was not migrated.
        var migrated: StoreDigest?
        var findings: [Finding] = []
    }

    private static let name = "migrated"

    let from: StoreLocation
    let into: StoreLocation
    /// True if the caller asked for a migration, so that a source with a base of another version is migrated, too.
    var isAsked = false
    let surroundings: Surroundings

    /// Calls `body` with sources of the receiving store's version.
    func withSources<Result>(
        _ base: MergePlace?,
        _ source: MergePlace,
        _ body: (Sources) throws -> Result
    ) throws -> Result {
        guard let (target, mapping) = try migration(base, source) else {
            return try body(Sources(base: base, source: source))
        }
        let folders = [try TemporaryDirectory(prefix: Self.prefix), try TemporaryDirectory(prefix: Self.prefix)]
        return try withExtendedLifetime(folders) {
            let migrated = try migrate(source, to: target, in: folders[0].directory)
            let digest = try StoreDigest(
                of: migrated.connection,
                externalData: migrated.externalData,
                monitor: surroundings.monitor
            )
            let result = try body(
                Sources(
                    base: base.map { try migrate($0, to: target, in: folders[1].directory) },
                    source: migrated,
                    migrated: digest,
                    findings: findings(mapping)
                )
            )
            try migrated.connection.close()
            return result
        }
    }

    private static let prefix = "store-migrate-version"

    // MARK: Deciding

    /// The version to migrate to, and the mapping; nil if the source is merged as it is.
    ///
    /// Of two versions, the source's must be the older one. It is if the base has it, because the receiving store was
    /// migrated since; or if the mapping loses nothing.
    private func migration(_ base: MergePlace?, _ source: MergePlace) throws -> (MigrationTarget, InferredMapping)? {
        guard let version = try StoreMetadata(reading: source.connection)?.entityVersionHashes,
            let target = try target(unless: version)
        else { return nil }
        guard
            let migrator = try MergeableVersions.migrator(
                base?.connection,
                source.connection,
                source.externalData,
                to: target,
                isAsked: isAsked
            ), !migrator.isUpToDate
        else { return nil }
        do {
            try migrator.check()
        } catch let error as MappingRefusals {
            throw MigrationError(error, path: from.path)
        }
        return (target, migrator.mapping)
    }

    /// The receiving store's version; nil if it is the source's, or not known.
    private func target(unless version: [String: [UInt8]]) throws -> MigrationTarget? {
        try surroundings.reader.read(into) { view in
            guard let metadata = try StoreMetadata(reading: view.connection), metadata.entityVersionHashes != version,
                try ManagedObjectModel(cachedIn: view.connection) != nil
            else { return nil }
            return try MigrationTarget(store: view.connection, path: into.path)
        }
    }

    private func findings(_ mapping: InferredMapping) -> [Finding] {
        let losses = mapping.losses
        guard !losses.isEmpty else { return [] }
        return [
            Finding(
                .notInNewVersion,
                .warning,
                level: .content,
                "the new store's model version lacks \(losses.joined(separator: ", ")); late values of these are only in the"
                    + " old store",
                path: from.path
            )
        ]
    }

    // MARK: Migrating

    /// A migrated and proved copy of a source; the source itself if it has the version.
    func migrate(_ place: MergePlace, to target: MigrationTarget, in folder: Directory) throws -> MergePlace {
        let original = try ModelMigrator(
            place.connection,
            to: target,
            external: place.externalData,
            ignoringFence: true
        )
        guard !original.isUpToDate else { return place }
        let location = StoreLocation(folder: folder.path, name: Self.name)
        let file = try folder.createFile(location.name, mode: 0o600)
        try copy(place.connection, to: location)
        let migration = StagedMigration(
            target: target,
            place: from,
            staged: location,
            external: place.externalData,
            monitor: surroundings.monitor,
            // The copies must descend from each other by their history.
            isRecorded: false
        )
        _ = try migration.carryOut()
        try file.close()
        let image = try StoreConnection(location, access: .immutable)
        try migration.requireValues(in: image, migratedFrom: place.connection)
        try image.beginReading()
        return MergePlace(image, externalData: place.externalData)
    }

    /// Copies the state that `source` reads, without a fence.
    private func copy(_ source: StoreConnection, to location: StoreLocation) throws {
        let copy = try StoreConnection(location, access: .privateCopy)
        try source.copyPages(to: copy)
        if try StoreFence(reading: copy) != nil { try FenceWriter(copy).lift() }
        try copy.close()
    }
}

extension InferredMapping {
    /// The entities and properties of the source that the target lacks, as `Entity.property`.
    var losses: [String] {
        changes.filter { [.entityRemoved, .attributeRemoved, .relationshipRemoved].contains($0.kind) }
            .map { [$0.entity, $0.property].compactMap(\.self).joined(separator: ".") }
    }
}
