import StoreFormat

extension ModelFile {
    /// True unless the store was written with a model that this file does not know: a newer one, or another app's.
    ///
    /// Where both tell version hashes, those of every version in the file are asked. Else every entity and property of the
    /// store's own model has to be in the file's current one. A store without a model of its own cannot be told.
    func covers(_ inspection: StoreInspection) -> Bool {
        let theirs = inspection.metadata?.entityVersionHashes ?? [:]
        if !entityVersionHashes.isEmpty, !theirs.isEmpty {
            return entityVersionHashes == theirs || otherVersions.values.contains(theirs)
        }
        guard inspection.modelSource == .modelCache, let stored = inspection.model else { return true }
        return stored.entities.values.allSatisfy { entity in
            guard let known = model.entities[entity.name] else { return false }
            let names = Set(known.attributes.map(\.name) + known.relationships.map(\.name))
            return names.isSuperset(of: entity.attributes.map(\.name) + entity.relationships.map(\.name))
        }
    }
}
