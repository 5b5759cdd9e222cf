import ChangeMerging
import ModelMigration
import SafeFiles
import StoreAccess
import StoreFormat

/// Brings stores to one model version, in copies, so that their objects can be compared.
///
/// The version is that of a store to which all others can be migrated, if possible without a loss. If there is none, the
/// stores are compared as they are: entities and properties correspond by their names.
final class ComparableVersions {
    private static let prefix = "store-migrate-version"

    private let surroundings: Surroundings
    /// The folders of the copies, which live as long as this instance.
    private var folders: [TemporaryDirectory] = []
    /// What was migrated, or why nothing was.
    private(set) var findings: [Finding] = []

    init(_ surroundings: Surroundings) { self.surroundings = surroundings }

    /// Returns the stores of one version, in the same order; `names` are their paths as the user knows them.
    func places(_ places: [MergePlace], named names: [String]) throws -> [MergePlace] {
        let versions = try places.map { place in
            try ManagedObjectModel(cachedIn: place.connection) == nil
                ? nil : StoreMetadata(reading: place.connection)?.entityVersionHashes
        }
        guard !versions.contains(nil), Set(versions).count > 1 else { return places }
        guard let (target, path, losses) = try target(places, names) else {
            note(
                "the stores have different model versions, and no migration can be inferred between them: entities and "
                    + "properties correspond by their names. migrate -n shows why",
                names[0]
            )
            return places
        }
        let lack = losses.isEmpty ? "" : ", which lacks \(losses.joined(separator: ", "))"
        note("copies are compared that were migrated to the model version of \(path)\(lack)", names[0])
        return try places.map { place in
            let folder = try TemporaryDirectory(prefix: Self.prefix)
            folders.append(folder)
            let location = place.connection.location
            return try MergeVersions(from: location, into: location, surroundings: surroundings)
                .migrate(place, to: target, in: folder.directory)
        }
    }

    private func note(_ message: String, _ path: String) {
        findings.append(Finding(.modelVersionsDiffer, .warning, level: .content, message, path: path))
    }

    /// The version of one of the stores to which all others can be migrated, its store, and what is lost.
    private func target(_ places: [MergePlace], _ names: [String]) throws -> (
        MigrationTarget, path: String, losses: [String]
    )? {
        var best: (MigrationTarget, path: String, losses: [String])?
        // The second store is more often the newer one.
        for (place, path) in [(places[1], names[1]), (places[0], names[0])] {
            let target = try MigrationTarget(store: place.connection, path: path)
            guard let losses = try losses(places, to: target) else { continue }
            if best.map({ losses.count < $0.losses.count }) ?? true { best = (target, path, losses) }
        }
        return best
    }

    /// What stores lose that are migrated to a version; nil if one cannot be.
    private func losses(_ places: [MergePlace], to target: MigrationTarget) throws -> [String]? {
        var losses: Set<String> = []
        for place in places {
            do {
                let migrator = try ModelMigrator(
                    place.connection,
                    to: target,
                    external: place.externalData,
                    ignoringFence: true
                )
                guard !migrator.isUpToDate else { continue }
                try migrator.check()
                losses.formUnion(migrator.mapping.losses)
            } catch is MappingRefusals {
                return nil
            }
        }
        return losses.sorted()
    }
}
