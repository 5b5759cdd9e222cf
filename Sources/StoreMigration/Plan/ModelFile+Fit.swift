import StoreFormat

extension ModelFile {
    /// True unless the store was written with a model that this file lacks: a newer one, or another app's.
    ///
    /// If both have version hashes, those of every version in the file count. Otherwise the file's current model must
    /// have every entity and property of the store's. A store without a model counts as covered.
    func covers(_ inspection: StoreInspection) -> Bool {
        let theirs = inspection.metadata?.entityVersionHashes ?? [:]
        if !entityVersionHashes.isEmpty, !theirs.isEmpty {
            return entityVersionHashes == theirs || otherVersions.values.contains(theirs)
        }
        guard inspection.modelSource == .modelCache, let stored = inspection.model else { return true }
        return stored.entitiesByName.values.allSatisfy { entity in
            guard let known = model.entitiesByName[entity.name] else { return false }
            let names = Set(known.attributes.map(\.name) + known.relationships.map(\.name))
            return names.isSuperset(of: entity.attributes.map(\.name) + entity.relationships.map(\.name))
        }
    }
}
