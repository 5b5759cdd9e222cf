import ModelMigration
import StoreAccess
import StoreFormat

/// The model that a program carries, with the other versions in its folder.
struct CarriedModel {
    let model: ManagedObjectModel
    let entityVersionHashes: [String: [UInt8]]
    let otherVersions: [String: [String: [UInt8]]]

    /// True unless the store was written with a model that this one lacks: a newer one, or another app's.
    ///
    /// If both have version hashes, those of every version in the folder count. Otherwise the current model must have every
    /// entity and property of the store's. A store without a model counts as covered.
    func covers(_ inspection: StoreInspection) -> Bool {
        let theirs = inspection.metadata?.entityVersionHashes ?? [:]
        if !entityVersionHashes.isEmpty, !theirs.isEmpty {
            return entityVersionHashes == theirs || otherVersions.values.contains(theirs)
        }
        guard inspection.modelSource == .modelCache, let stored = inspection.model else { return true }
        return covers(stored)
    }

    /// True if the current model has every entity and property of `other`.
    func covers(_ other: ManagedObjectModel) -> Bool {
        other.entitiesByName.values.allSatisfy { entity in
            guard let known = model.entitiesByName[entity.name] else { return false }
            let names = Set(known.attributes.map(\.name) + known.relationships.map(\.name))
            return names.isSuperset(of: entity.attributes.map(\.name) + entity.relationships.map(\.name))
        }
    }
}

extension ModelFile {
    private var carried: CarriedModel {
        CarriedModel(model: model, entityVersionHashes: entityVersionHashes, otherVersions: otherVersions)
    }

    /// True unless the store was written with a model that this file lacks.
    func covers(_ inspection: StoreInspection) -> Bool { carried.covers(inspection) }

    /// True if a program with this file opens a store that is migrated to `target`.
    func opens(_ target: MigrationTarget) -> Bool {
        let theirs = target.entityVersionHashes
        if !entityVersionHashes.isEmpty, !theirs.isEmpty {
            return entityVersionHashes == theirs || otherVersions.values.contains(theirs)
        }
        return carried.covers(target.model)
    }
}

extension ModelFile {
    /// Opens the model of the programs named by `owner`.
    static func carried(by owner: String, at path: String) throws -> ModelFile {
        do {
            return try ModelFile(path: path)
        } catch {
            throw MigrationError(
                .usage,
                "cannot read the model of \(owner): \(error.message)",
                path: error.path,
                advice: "Name its model: a .momd, .mom, .xcdatamodeld or .xcdatamodel.",
                underlyingError: error
            )
        }
    }
}
