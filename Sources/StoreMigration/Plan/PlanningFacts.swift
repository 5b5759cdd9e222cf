package import StoreFormat

/// Everything the planner may know; gathering it is somebody else's work.
package struct PlanningFacts: Sendable {
    /// What an earlier run of ours says, checked against what is on disk.
    package struct EarlierRun: Hashable, Sendable {
        /// What stands at the new place, as far as the earlier run is concerned.
        package enum NewPlace: Hashable, Sendable {
            case ours
            case notOurs
            case absent
            /// The store there was shared on, and left its place; its data is in this one.
            case succeeded(by: StoreLocation)
            /// The run shared the store to another place than is asked for now, and the store is there.
            case elsewhere(String)
        }

        package let transaction: String
        package let newPlace: NewPlace
        /// True when the old store holds what it held when it was shared.
        package let isOldUnchanged: Bool
        /// True when the store that the run shared to is out of use, and the new store has taken its place in the chain.
        package let followsChain: Bool
        /// True when a person decided before that rows of the old store stay there alone.
        package let leavesRows: Bool
        /// False when only the fence and the receipt tell of the run.
        package let hasJournal: Bool
        /// True when the new store was kept as it was, and never took what the old one holds.
        package let keepsNew: Bool
        /// True when a copy of what both places held last was kept.
        package let hasBase: Bool
        /// The old store's token, read before its content was looked at.
        package let oldReading: TokenReading?

        package init(
            transaction: String,
            newPlace: NewPlace,
            isOldUnchanged: Bool,
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
    /// True when a main file, of whatever size, has the new store's name.
    package let isMainFileAtNew: Bool
    /// Nil when no run of ours over the old store came to its end, and no fence of ours stands in it.
    package let earlierRun: EarlierRun?
    /// Where the data of the store at the new place is, if that store is out of use.
    package let succession: Succession?
    /// True when the store at the new place was shared to the old one, and that record stands.
    package let isOldRecordedNew: Bool
    /// Whether both places hold the same content; nil when that was not looked at.
    package let areContentsEqual: Bool?
    /// The store that was written with a model newer than the caller's; nil when neither was, or nobody asked.
    package let newerThanModel: StoreLocation?
    /// Where others could exchange what leads to the old store; nil where only its owner can.
    package let exposedFolder: ExposedFolder?

    package init(
        old: StoreLocation,
        new: StoreLocation,
        oldCondition: StoreCondition,
        newCondition: StoreCondition,
        isMainFileAtNew: Bool = false,
        earlierRun: EarlierRun? = nil,
        succession: Succession? = nil,
        isOldRecordedNew: Bool = false,
        areContentsEqual: Bool? = nil,
        newerThanModel: StoreLocation? = nil,
        exposedFolder: ExposedFolder? = nil
    ) {
        self.old = old
        self.new = new
        self.oldCondition = oldCondition
        self.newCondition = newCondition
        self.isMainFileAtNew = isMainFileAtNew
        self.earlierRun = earlierRun
        self.succession = succession
        self.isOldRecordedNew = isOldRecordedNew
        self.areContentsEqual = areContentsEqual
        self.newerThanModel = newerThanModel
        self.exposedFolder = exposedFolder
    }

    /// True when the decision hangs on whether both places hold the same content.
    package var needsContentComparison: Bool {
        guard earlierRun == nil, let old = oldCondition.inspection, let new = newCondition.inspection else {
            return false
        }
        return !new.isBlank && old.fits(new) && !old.isEmpty && old.objectCount == new.objectCount
    }
}

extension StoreInspection {
    /// True when the content of one could stand in the place of the other: the same kind, the same model.
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
