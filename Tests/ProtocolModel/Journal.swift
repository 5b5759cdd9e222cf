/// The records that the tool appends, by name as in its journal.
package enum Record: String, CaseIterable, Hashable, Sendable {
    case begin, nest, aside, publishing, replacing, published, fenced, proved, done, renewed, choosing, base, merging
    case merged, unmerged, voided, unsharing, unshared, unfenced, rolledBack, restored, migrated, archived, retiring
    case retired, removed
}

/// The folded records of the journal beside one store; each record is flushed before the run goes on.
package struct Journal: Hashable, Sendable {
    package enum Phase: UInt8, Hashable, Sendable {
        case none
        /// A run began and has not ended.
        case running
        /// An unshare began and has not ended.
        case unsharing
    }

    package var phase = Phase.none
    /// The share that is in force, or was before the run in progress.
    package var standing = StandingShare()
    package var current = CurrentRun()
    /// The run of the unshare in the other journal.
    package var unshare = Run.none
    /// The run of a merge outside a share whose result is not recorded yet.
    package var merge = Run.none
    /// A record that is not flushed: only a known mistake leaves one.
    package var hasUnsyncedRecord = false

    package var isEmpty: Bool { phase == .none && !standing.isPresent && merge == .none }
}

/// A complete share of the store beside the journal.
package struct StandingShare: Hashable, Sendable {
    package var isPresent = false
    package var run = Run.none
    package var to = Place.new
    package var isFenced = false
    /// The old store's rows that the new store has.
    package var common: Rows = []
    package var hasBase = false
    package var isVoid = false
    package var isArchived = false
    package var isRetiring = false
    package var isRetired = false
    package var isRemoved = false
    /// True if the caller decided that rows stay in the old store alone.
    package var leavesRows = false
}

/// The records of the run in progress.
package struct CurrentRun: Hashable, Sendable {
    package var run = Run.none
    package var to = Place.new
    package var fences = false
    package var isInPlace = false
    package var migrates = false
    package var hasStaging = false
    package var hasAside = false
    package var isPublishing = false
    package var isReplacing = false
    package var isPublished = false
    package var isFenced = false
    package var isProved = false
    package var isMerging = false
    package var hasBase = false
    /// The rows of the copy, or of the snapshot that is merged: their digest is in the record.
    package var rows: Rows = []
    /// The rows of the store whose content is replaced: their digest is in the record.
    package var displaced: Rows = []
    package var leavesRows = false
}

extension Journal {
    /// What a record says beside its name.
    package struct Details: Hashable, Sendable {
        package var run = Run.none
        package var to = Place.new
        package var fences = false
        package var isInPlace = false
        package var migrates = false
        package var rows: Rows = []
        package var displaced: Rows = []
        /// True if the store is fenced at the end of the run.
        package var isFenced = false
        package var leavesRows = false
        package init() {}
    }

    /// Adds a record; returns false if no run of the tool may write it in this position.
    package mutating func append(_ record: Record, _ details: Details) -> Bool {
        switch phase {
        case .running: addToRun(record, details)
        case .unsharing: addToUnshare(record, details)
        case .none: addAtRest(record, details)
        }
    }

    private mutating func addToRun(_ record: Record, _ details: Details) -> Bool {
        let isCommitted = current.isPublished
        switch record {
        case .nest where !current.isPublishing && !current.isReplacing: current.hasStaging = true
        case .aside where !isCommitted: current.hasAside = true
        case .base: current.hasBase = true
        case .publishing where current.hasStaging && !current.isReplacing && !current.isPublishing:
            (current.isPublishing, current.rows) = (true, details.rows)
        case .replacing where current.hasStaging && current.hasAside && !current.isPublishing:
            (current.isReplacing, current.rows, current.displaced) = (true, details.rows, details.displaced)
        case .published where (current.isPublishing || current.isReplacing) && !isCommitted:
            current.isPublished = true
        case .fenced where current.fences && !current.isFenced && (isCommitted || !current.hasStaging):
            current.isFenced = true
        case .proved where isCommitted: current.isProved = true
        case .merging where !current.hasStaging && !current.isMerging:
            (current.isMerging, current.rows) = (true, details.rows)
        case .voided:
            standing.isVoid = standing.isPresent
        case .done where isDoable: finish(details)
        case .rolledBack where !current.isPublished: (phase, current) = (.none, CurrentRun())
        case .restored where current.isInPlace && isCommitted, .migrated where current.isInPlace && isCommitted:
            (phase, current) = (.none, CurrentRun())
        case .unfenced where isCommitted: (phase, current, standing) = (.none, CurrentRun(), StandingShare())
        default: return false
        }
        return true
    }

    /// True if the run in progress may end: a copy is proved, a merge recorded, and a fence recorded where it was asked for.
    private var isDoable: Bool {
        guard !current.isInPlace else { return false }
        if current.hasStaging {
            return current.isPublished && current.isProved && (!current.fences || current.isFenced)
        }
        return current.isMerging || !current.fences || current.isFenced
    }

    private mutating func finish(_ details: Details) {
        let former = standing
        let copies = current.isPublishing || current.isReplacing
        standing = StandingShare()
        standing.isPresent = true
        (standing.run, standing.to, standing.common) = (current.run, current.to, details.rows)
        standing.isFenced = details.isFenced
        standing.hasBase = current.hasBase || (!copies && !current.isMerging && former.isPresent && former.hasBase)
        standing.leavesRows = details.leavesRows
        (phase, current) = (.none, CurrentRun())
    }

    private mutating func addToUnshare(_ record: Record, _ details: Details) -> Bool {
        switch record {
        case .base: standing.hasBase = true
        case .rolledBack: (phase, unshare) = (.none, .none)
        case .unshared: (phase, unshare, standing) = (.none, .none, StandingShare())
        default: return false
        }
        return true
    }

    private mutating func addAtRest(_ record: Record, _ details: Details) -> Bool {
        let isShared = standing.isPresent && !standing.isVoid && !standing.isRetired
        switch record {
        case .begin:
            phase = .running
            if standing.isRetired { standing = StandingShare() }
            (current.run, current.to) = (details.run, details.to)
            (current.fences, current.isInPlace) = (details.fences, details.isInPlace)
            current.migrates = details.migrates
        case .voided where isShared: standing.isVoid = true
        case .unsharing where standing.isPresent && !standing.isVoid: (phase, unshare) = (.unsharing, details.run)
        case .unfenced where standing.isPresent: standing = StandingShare()
        case .renewed where isShared, .choosing where isShared: break
        case .archived where isShared: standing.isArchived = true
        case .retiring where isShared: standing.isRetiring = true
        case .retired where isShared && standing.isRetiring: standing.isRetired = true
        case .removed where standing.isRetired && standing.isArchived: standing.isRemoved = true
        case .merging where merge == .none: merge = details.run
        case .merged where merge != .none, .unmerged where merge != .none: merge = .none
        default: return false
        }
        return true
    }
}
