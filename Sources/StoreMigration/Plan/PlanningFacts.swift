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
