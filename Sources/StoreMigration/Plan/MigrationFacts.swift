package import ModelMigration
import StoreFormat

/// What a share with a migration knows about the models of both stores.
package struct MigrationFacts: Hashable, Sendable {
    /// The model of the new store, compared with the target.
    package enum Standing: Hashable, Sendable {
        case current
        case older
        /// It is newer than the target, or another app's.
        case newer
    }

    /// The model version that the share migrates to.
    package let target: MigrationTarget
    /// The mapping for the old store; nil if there is none, or if it needs no migration.
    package let mapping: InferredMapping?
    /// Why the old store cannot be migrated.
    package let refusals: [MappingRefusal]
    /// Nil without a store at the new path.
    package let newStanding: Standing?

    package init(
        target: MigrationTarget,
        mapping: InferredMapping? = nil,
        refusals: [MappingRefusal] = [],
        newStanding: Standing? = nil
    ) {
        self.target = target
        self.mapping = mapping
        self.refusals = refusals
        self.newStanding = newStanding
    }
}

extension FactsGatherer {
    /// Compares both stores with the model version that a share migrates to.
    ///
    /// Unless `copiesOld`, no copy of the old store is made, and its mapping is not needed.
    func migrationFacts(
        _ target: MigrationTarget,
        _ oldCondition: StoreCondition,
        _ newCondition: StoreCondition,
        copiesOld: Bool
    ) throws -> MigrationFacts {
        var mapping: InferredMapping?
        var refusals: [MappingRefusal] = []
        if copiesOld, let inspection = oldCondition.inspection, !inspection.isBlank {
            do {
                mapping = try self.mapping(of: old, to: target)
            } catch let error as MappingRefusals {
                refusals = error.refusals
            }
        }
        return MigrationFacts(
            target: target,
            mapping: mapping,
            refusals: refusals,
            newStanding: try newCondition.inspection.flatMap { new in
                new.isBlank ? nil : try standing(of: new, besides: oldCondition.inspection, target)
            }
        )
    }

    /// The mapping for the store at `location`, whose rows permit it; nil if the store has the version.
    private func mapping(of location: StoreLocation, to target: MigrationTarget) throws -> InferredMapping? {
        try reader.withView(of: location) { view in
            let migrator = try ModelMigrator(
                view.connection,
                to: target,
                external: view.externalData,
                ignoringFence: true
            )
            guard !migrator.isUpToDate else { return nil }
            try migrator.check()
            return migrator.mapping
        }
    }

    /// What the old store has and the target has no place for; reads the columns that the target lacks.
    func lostValues(to target: MigrationTarget) throws -> [LostValues] {
        try reader.withView(of: old) { view in
            try ModelMigrator(view.connection, to: target, external: view.externalData, ignoringFence: true)
                .lostValues()
        }
    }

    private func standing(
        of new: StoreInspection,
        besides old: StoreInspection?,
        _ target: MigrationTarget
    ) throws -> MigrationFacts.Standing {
        if try hasVersion(target) { return .current }
        if target.lacks(new) { return .newer }
        let isAsOld = old.map { $0.metadata?.entityVersionHashes == new.metadata?.entityVersionHashes } ?? false
        return isAsOld || target.covers(new) ? .older : .newer
    }

    /// True if the new store has the model version.
    func hasVersion(_ target: MigrationTarget) throws -> Bool {
        try reader.withView(of: new) { view in
            do {
                return try ModelMigrator(view.connection, to: target, ignoringFence: true).isUpToDate
            } catch is MappingRefusals {
                return false
            } catch let error as StoreError where error.code == .incompatible {
                return false
            }
        }
    }
}

extension MigrationTarget {
    /// True if the store's model is none of the versions in a folder of several: a newer one, or another app's.
    func lacks(_ inspection: StoreInspection) -> Bool {
        guard !entityVersionHashes.isEmpty, !otherVersions.isEmpty,
            let theirs = inspection.metadata?.entityVersionHashes, !theirs.isEmpty
        else { return false }
        return theirs != entityVersionHashes && !otherVersions.values.contains(theirs)
    }

    /// True unless the store was written with a model that this target and its folder lack.
    func covers(_ inspection: StoreInspection) -> Bool {
        CarriedModel(model: model, entityVersionHashes: entityVersionHashes, otherVersions: otherVersions)
            .covers(inspection)
    }
}
