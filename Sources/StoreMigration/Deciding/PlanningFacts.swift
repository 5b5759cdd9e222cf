package import ModelMigration
package import StoreAccess
package import StoreFormat

/// The input of the planner, which does no I/O.
package struct PlanningFacts: Sendable {
    /// An earlier run, checked against the stores.
    package struct EarlierRun: Hashable, Sendable {
        /// The state of the new path with respect to the earlier run.
        package enum NewPlace: Hashable, Sendable {
            case ours
            case notOurs
            case absent
            /// The store there was shared on and renamed; its data is in this store.
            case succeeded(by: StoreLocation)
            /// The run shared the store to another path, and the store is there.
            case elsewhere(String)
        }

        package let transaction: String
        package let newPlace: NewPlace
        /// True when the old store is unchanged since it was shared.
        package let isOldUnchanged: Bool
        /// The recorded content digest of the old store.
        package let oldDigest: String?
        /// True when the run's new store is out of use, and the present one follows it in the chain.
        package let followsChain: Bool
        /// True when the caller decided before that rows stay only in the old store.
        package let leavesRows: Bool
        /// False when only the fence and the receipt record the run.
        package let hasJournal: Bool
        /// True when the new store was kept and never received the old one's content.
        package let keepsNew: Bool
        /// True when a base was kept.
        package let hasBase: Bool
        /// The old store's token, read before its content.
        package let oldReading: TokenReading?

        package init(
            transaction: String,
            newPlace: NewPlace,
            isOldUnchanged: Bool,
            oldDigest: String? = nil,
            followsChain: Bool = false,
            leavesRows: Bool = false,
            hasJournal: Bool = true,
            keepsNew: Bool = false,
            hasBase: Bool = false,
            oldReading: TokenReading? = nil
        ) {
            self.transaction = transaction
            self.newPlace = newPlace
            self.isOldUnchanged = isOldUnchanged
            self.oldDigest = oldDigest
            self.followsChain = followsChain
            self.leavesRows = leavesRows
            self.hasJournal = hasJournal
            self.keepsNew = keepsNew
            self.hasBase = hasBase
            self.oldReading = oldReading
        }
    }

    package let old: StoreLocation
    package let new: StoreLocation
    package let oldCondition: StoreCondition
    package let newCondition: StoreCondition
    /// True when a file of any size has the new store's name.
    package let isMainFileAtNew: Bool
    /// Nil when the old store has neither a complete run nor a fence.
    package let earlierRun: EarlierRun?
    /// The path of the shared store whose old store was retired; nil when none was.
    package let retiredTo: String?
    /// The state folder that records the pair, if it is not the caller's.
    package let recordedElsewhere: String?
    /// The current location of the new store's data, if that store is out of use.
    package let succession: Succession?
    /// True when the store at the new path was shared to the old one, and that record is valid.
    package let isOldRecordedNew: Bool
    /// True when both stores have equal content; nil when that was not compared.
    package let areContentsEqual: Bool?
    /// The store whose model is newer than the caller's; nil if there is none, or no model was named.
    package let newerThanModel: StoreLocation?
    /// The folder in which other users can replace the old store; nil if there is none.
    package let exposedFolder: ExposedFolder?
    /// Both stores' models, for a share with a migration; nil for one without.
    package let migration: MigrationFacts?
    /// True if the new store has another model version than the old one, and late writes can be migrated to it.
    package let canMergeVersions: Bool
    /// True if the old store was not shared, the new one has another model version, and a share could migrate to it.
    package let canMigrateOld: Bool

    package init(
        old: StoreLocation,
        new: StoreLocation,
        oldCondition: StoreCondition,
        newCondition: StoreCondition,
        isMainFileAtNew: Bool = false,
        earlierRun: EarlierRun? = nil,
        retiredTo: String? = nil,
        recordedElsewhere: String? = nil,
        succession: Succession? = nil,
        isOldRecordedNew: Bool = false,
        areContentsEqual: Bool? = nil,
        newerThanModel: StoreLocation? = nil,
        exposedFolder: ExposedFolder? = nil,
        migration: MigrationFacts? = nil,
        canMergeVersions: Bool = false,
        canMigrateOld: Bool = false
    ) {
        self.old = old
        self.new = new
        self.oldCondition = oldCondition
        self.newCondition = newCondition
        self.isMainFileAtNew = isMainFileAtNew
        self.earlierRun = earlierRun
        self.retiredTo = retiredTo
        self.recordedElsewhere = recordedElsewhere
        self.succession = succession
        self.isOldRecordedNew = isOldRecordedNew
        self.areContentsEqual = areContentsEqual
        self.newerThanModel = newerThanModel
        self.exposedFolder = exposedFolder
        self.migration = migration
        self.canMergeVersions = canMergeVersions
        self.canMigrateOld = canMigrateOld
    }

    /// True when one content could replace the other, or be merged into it; a share that migrates accepts a new store of
    /// the target's model.
    package func fit(_ old: StoreInspection, _ new: StoreInspection) -> Bool {
        old.fits(new) || migration?.newStanding == .current || canMergeVersions
    }

    /// True when the decision depends on whether both contents are equal.
    package var needsContentComparison: Bool {
        guard earlierRun == nil, let old = oldCondition.inspection, let new = newCondition.inspection else {
            return false
        }
        return !new.isBlank && old.fits(new) && !old.isEmpty && migration?.newStanding != .current
            && old.objectCount == new.objectCount
    }
}

extension StoreInspection {
    /// True when one content could replace the other: same kind, same model.
    ///
    /// A database without tables fits any.
    package func fits(_ other: StoreInspection) -> Bool {
        if isBlank || other.isBlank { return true }
        guard kind == other.kind else { return false }
        guard let mine = metadata?.entityVersionHashes, let theirs = other.metadata?.entityVersionHashes else {
            return true
        }
        return mine.isEmpty || theirs.isEmpty || mine == theirs
    }
}

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
        try reader.read(location) { view in
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
        try reader.read(old) { view in
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
        try reader.read(new) { view in
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
