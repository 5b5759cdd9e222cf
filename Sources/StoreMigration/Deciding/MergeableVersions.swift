import ChangeMerging
import ModelMigration
import SafeFiles
import StoreAccess
import StoreFormat

/// Which stores of different model versions can be merged.
enum MergeableVersions {
    /// True if the source's rows, without a base all of them, can be migrated to the receiving store's version and merged.
    static func canMerge(
        _ base: StoreConnection?,
        _ source: StoreConnection,
        into target: StoreConnection
    ) throws -> Bool {
        guard try ManagedObjectModel(cachedIn: target) != nil else { return false }
        let version = try MigrationTarget(store: target, path: target.location.path)
        do {
            return try migrator(base, source, nil, to: version, isAsked: base == nil) != nil
        } catch let error as StoreError where error.code == .incompatible {
            return false
        }
    }

    /// The migrator of a source whose version is the older one; nil if there is no mapping, or the source may be newer.
    static func migrator(
        _ base: StoreConnection?,
        _ source: StoreConnection,
        _ external: Directory?,
        to target: MigrationTarget,
        isAsked: Bool
    ) throws -> ModelMigrator? {
        let migrator: ModelMigrator
        do {
            migrator = try ModelMigrator(source, to: target, external: external, ignoringFence: true)
        } catch is MappingRefusals {
            return nil
        }
        let version = try StoreMetadata(reading: source)?.entityVersionHashes
        let baseVersion = try base.flatMap { try StoreMetadata(reading: $0)?.entityVersionHashes }
        return isAsked || baseVersion == version || migrator.mapping.losses.isEmpty ? migrator : nil
    }
}
