package import SafeFiles
package import StoreAccess

/// The progress of the runs over one old store: the folded records of its journal.
package enum RunState: Hashable, Sendable {
    /// No run, or only runs that were rolled back.
    case none
    /// A run stopped before it was complete.
    case interrupted(InterruptedRun)
    /// The store is shared.
    case shared(SharedRun)
    /// The store was shared, and the old one is retired.
    case retired(SharedRun, to: String)
    /// An unshare is in progress.
    case unsharing(SharedRun, transaction: String)
    /// The store was shared, and the common state is unknown.
    case voided(SharedRun)

    /// The last run; nil without one.
    package var run: JournalRecord.RunIdentity? {
        switch self {
        case .none: nil
        case .interrupted(let current): current.run
        case .shared(let shared), .retired(let shared, _), .unsharing(let shared, _), .voided(let shared): shared.run
        }
    }

    /// True for an unshare that has begun and is not complete.
    var isUnsharing: Bool { if case .unsharing = self { true } else { false } }

    /// The recorded choices of the caller; nil when no share of the old store is in force.
    package var choices: PairChoices? {
        switch self {
        case .none, .retired: nil
        case .interrupted(let current): (current.former ?? current.voided)?.run.choices
        case .shared(let shared), .unsharing(let shared, _), .voided(let shared): shared.run.choices
        }
    }

    /// The run of a shared store.
    package var shared: SharedRun? {
        if case .shared(let shared) = self { shared } else { nil }
    }

    /// The run whose old store was retired.
    package var retired: SharedRun? {
        if case .retired(let shared, _) = self { shared } else { nil }
    }

    /// True from the beginning of a run or an unshare until its end.
    package var isUnfinished: Bool {
        switch self {
        case .interrupted, .unsharing: true
        default: false
        }
    }

    /// The base of a shared store, if one was kept.
    package var base: JournalRecord.BaseFile? {
        if case .shared(let shared) = self { shared.base } else { nil }
    }

    /// An incomplete run, and its records.
    package struct InterruptedRun: Hashable, Sendable {
        package var run: JournalRecord.RunIdentity
        /// The complete run before this one; in force again when this one is rolled back.
        package var former: SharedRun?
        /// The same for a former run whose common state is void.
        package var voided: SharedRun?
        package var staging: FileIdentity?
        package var aside: FileIdentity?
        package var publication: JournalRecord.Publication?
        package var replacement: JournalRecord.Replacement?
        package var published: FileIdentity?
        package var isFenced = false
        package var provedDigest: String?
        package var base: JournalRecord.BaseFile?
        package var merging: JournalRecord.Merging?
    }

    /// A complete run.
    package struct SharedRun: Hashable, Sendable {
        package var run: JournalRecord.RunIdentity
        package var completion: JournalRecord.Completion
        /// The newest state in which the old store was found unchanged.
        package var oldState: JournalRecord.OldState
        /// The old store's new name, if a retirement was interrupted.
        package var retiringTo: String?
        /// True when that retirement left WAL mode, which was not restored.
        package var lostLog = false
        /// The retired store's name during an unshare; nil if the old store has its own name.
        package var retiredTo: String?
        /// The archive of the old store, once made.
        package var archive: JournalRecord.Archive?
        /// True when only the archive of the old store exists.
        package var isRemoved = false
        /// The base for the merge of late writes; nil if none was kept.
        package var base: JournalRecord.BaseFile?
        /// The merges that are in force and can be undone, the last one at the end.
        package var merges: [StandingMerge] = []

        /// True for a retired state that an unshare made: a retirement makes an archive.
        package var isWithdrawn: Bool { archive == nil }

        /// The bases that a merge or an undo may need.
        package var neededBases: [JournalRecord.BaseFile?] { [base] + merges.map { $0.before?.base } }
    }

    /// A merge between the stores of the pair, in either direction.
    package struct StandingMerge: Hashable, Sendable {
        package let epoch: String
        /// True when the old store received the new one's content.
        package var takesNew = false
        /// The state to restore by an undo; nil when the stores were no pair before.
        package var before: BeforeMerge?
    }

    /// The state before a merge.
    package struct BeforeMerge: Hashable, Sendable {
        package let oldState: JournalRecord.OldState
        package var base: JournalRecord.BaseFile?
    }

    /// The same state with the old store's current path.
    package func at(_ old: StoreLocation) -> RunState {
        switch self {
        case .none: return self
        case .interrupted(var current):
            current.run = current.run.at(old)
            return .interrupted(current)
        case .shared(var shared):
            shared.run = shared.run.at(old)
            return .shared(shared)
        case .retired(var shared, let name):
            shared.run = shared.run.at(old)
            return .retired(shared, to: name)
        case .unsharing(var shared, let transaction):
            shared.run = shared.run.at(old)
            return .unsharing(shared, transaction: transaction)
        case .voided(var shared):
            shared.run = shared.run.at(old)
            return .voided(shared)
        }
    }

    /// Folds records into the state they describe; ignores records that are invalid in their position.
    package init(_ records: [JournalRecord]) {
        self = records.reduce(.none) { $0.adding($1) }
    }

    private func adding(_ record: JournalRecord) -> RunState {
        switch (record, self) {
        case (.begin(let run), .shared(let shared)):
            return .interrupted(InterruptedRun(run: run, former: shared))
        case (.begin(let run), .interrupted(let current)):
            return .interrupted(InterruptedRun(run: run, former: current.former, voided: current.voided))
        case (.begin(let run), .voided(let shared)):
            return .interrupted(InterruptedRun(run: run, voided: shared))
        case (.begin(let run), _):
            return .interrupted(InterruptedRun(run: run))
        case (.rolledBack, .interrupted(let current)), (.restored, .interrupted(let current)),
            (.migrated, .interrupted(let current)):
            return current.former.map { .shared($0) } ?? current.voided.map { .voided($0) } ?? .none
        case (.voided, .shared(let shared)):
            return .voided(shared)
        case (.voided, .interrupted(var current)):
            (current.former, current.voided) = (nil, current.former ?? current.voided)
            return .interrupted(current)
        case (.base(let base), .unsharing(var shared, let transaction)):
            shared.base = base
            return .unsharing(shared, transaction: transaction)
        // Nothing was brought back: the former state is in force again.
        case (.rolledBack, .unsharing(var shared, _)):
            guard let name = shared.retiredTo else { return .shared(shared) }
            shared.retiredTo = nil
            return .retired(shared, to: name)
        case (.rolledBack, _), (.unfenced, _), (.unshared, _):
            return .none
        case (.unsharing(let transaction), .shared(let shared)):
            return .unsharing(shared, transaction: transaction)
        case (.unsharing(let transaction), .retired(var shared, let name)):
            shared.retiredTo = name
            return .unsharing(shared, transaction: transaction)
        case (.done(let completion), .interrupted(let current)):
            return .shared(
                SharedRun(
                    // If the new store was only read, the fence and the receipt still name the former run.
                    run: current.merging?.takesNew == true ? current.former?.run ?? current.run : current.run,
                    completion: completion,
                    oldState: completion.oldState,
                    retiringTo: nil,
                    base: current.keptBase,
                    merges: current.standingMerges
                )
            )
        case (_, .interrupted(var current)):
            current.add(record)
            return .interrupted(current)
        case (.unmerged(let epoch), .shared(var shared)):
            guard let index = shared.merges.firstIndex(where: { $0.epoch == epoch }) else { return self }
            let undone = shared.merges.remove(at: index)
            // A later base contains the undone rows: compared with it, they would look like deletions.
            guard index == shared.merges.endIndex else { return .voided(shared) }
            guard let before = undone.before else { return .none }
            (shared.oldState, shared.base) = (before.oldState, before.base)
            return .shared(shared)
        case (.unmerged(let epoch), .voided(var shared)):
            shared.merges.removeAll { $0.epoch == epoch }
            return .voided(shared)
        case (.renewed(let state), .shared(var shared)):
            shared.oldState = state
            return .shared(shared)
        case (.choosing(let settings), .shared(var shared)):
            shared.run.recordedChoices = PairChoices(oldStore: shared.run.choices.oldStore, merging: settings)
            return .shared(shared)
        case (.retiring(let name, let isLogged), .shared(var shared)):
            (shared.retiringTo, shared.lostLog) = (name, isLogged == true)
            return .shared(shared)
        case (.archived(let archive), .shared(var shared)):
            shared.archive = archive
            return .shared(shared)
        case (.retired(let name), .shared(let shared)):
            return .retired(shared, to: name)
        case (.removed, .retired(var shared, let name)):
            shared.isRemoved = true
            return .retired(shared, to: name)
        default:
            return self
        }
    }
}

extension RunState.InterruptedRun {
    /// The base after the run: a copy has its own base or none, and a run without a copy keeps the former one unless it
    /// took one.
    fileprivate var keptBase: JournalRecord.BaseFile? {
        if let merging { return merging.base }
        return publication == nil && replacement == nil ? base ?? former?.base : base
    }

    /// The merges in force after the run: a copy keeps none of the former ones.
    fileprivate var standingMerges: [RunState.StandingMerge] {
        guard publication == nil, replacement == nil else { return [] }
        var merges = former?.merges ?? []
        guard let merging else { return merges }
        // A base is as large as the store, so only the last merge's base is kept.
        for index in merges.indices { merges[index].before?.base = nil }
        let before = former.map { RunState.BeforeMerge(oldState: $0.oldState, base: $0.base) }
        let takesNew = merging.takesNew == true
        return merges + [RunState.StandingMerge(epoch: merging.epoch, takesNew: takesNew, before: before)]
    }

    fileprivate mutating func add(_ record: JournalRecord) {
        switch record {
        case .nest(let identity): staging = identity
        case .aside(let identity): aside = identity
        case .publishing(let publication): self.publication = publication
        case .replacing(let replacement): self.replacement = replacement
        case .published(let identity): published = identity
        case .fenced: isFenced = true
        case .proved(let digest): provedDigest = digest
        case .base(let file): base = file
        // A merge of a store outside the pair has its own state and is no step of this run.
        case .merging(let merging) where merging.oldState != nil: self.merging = merging
        default: break
        }
    }
}
