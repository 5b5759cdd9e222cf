package import SafeFiles
package import StoreFormat

/// How far the runs over one old store came: the records of its journal, folded.
package enum RunState: Hashable, Sendable {
    /// No run, or only runs that were taken back.
    case none
    /// A run ended between its beginning and its end.
    case interrupted(InterruptedRun)
    /// The store is shared.
    case shared(SharedRun)
    /// The store was shared, and its old place is out of use.
    case retired(SharedRun, to: String)
    /// The content of the new place is on its way back to the old one.
    case unsharing(SharedRun, transaction: String)
    /// The store was shared, and what it has in common with the new one is not known any more.
    case voided(SharedRun)

    /// What the last run was about; nil when there is none.
    package var run: JournalRecord.RunIdentity? {
        switch self {
        case .none: nil
        case .interrupted(let current): current.run
        case .shared(let shared), .retired(let shared, _), .unsharing(let shared, _), .voided(let shared): shared.run
        }
    }

    /// True between the beginning of a run, or of the way back, and its end.
    package var isUnfinished: Bool {
        switch self {
        case .interrupted, .unsharing: true
        default: false
        }
    }

    /// What both places held last, where the store is shared and somebody kept it.
    package var base: JournalRecord.BaseFile? {
        if case .shared(let shared) = self { shared.base } else { nil }
    }

    /// A run whose end is missing, and the facts it left.
    package struct InterruptedRun: Hashable, Sendable {
        package var run: JournalRecord.RunIdentity
        /// The run that had come to its end before this one began; it stands again when this one is taken back.
        package var former: SharedRun?
        /// The same of a former run whose common state is void.
        package var voided: SharedRun?
        package var nest: FileIdentity?
        package var aside: FileIdentity?
        package var publication: JournalRecord.Publication?
        package var replacement: JournalRecord.Replacement?
        package var published: FileIdentity?
        package var isFenced = false
        package var provedDigest: String?
        package var base: JournalRecord.BaseFile?
        package var merging: JournalRecord.Merging?
    }

    /// A run that came to its end.
    package struct SharedRun: Hashable, Sendable {
        package var run: JournalRecord.RunIdentity
        package var completion: JournalRecord.Completion
        /// The newest state in which the old store was known to be unchanged.
        package var oldState: JournalRecord.OldState
        /// The name the old store is about to take, when a retirement was interrupted.
        package var retiringTo: String?
        /// True where that retirement took the old store's write-ahead log, and nobody gave it back.
        package var lostLog = false
        /// The name the old store took, while the content of the new place is on its way back; nil where it has its own.
        package var retiredTo: String?
        /// Where the old store is kept, once it is in an archive and to be removed.
        package var archive: JournalRecord.Archive?
        /// True when the archive is all that is left of the old store.
        package var isRemoved = false
        /// What both places held last, for the merge of late writes; nil where nobody kept it.
        package var base: JournalRecord.BaseFile?
        /// The merges from the old store that stand and can be taken back, the last one at the end.
        package var merges: [StandingMerge] = []

        /// The bases that somebody may still ask for.
        package var neededBases: [JournalRecord.BaseFile?] { [base] + merges.map { $0.before?.base } }
    }

    /// A merge of the old store into the new one, or the other way.
    package struct StandingMerge: Hashable, Sendable {
        package let epoch: String
        /// True where the old store took what the new one held.
        package var takesNew = false
        /// What counts again when it is taken back; nil where two stores were merged that nobody had shared.
        package var before: BeforeMerge?
    }

    /// What held before a merge.
    package struct BeforeMerge: Hashable, Sendable {
        package let oldState: JournalRecord.OldState
        package var base: JournalRecord.BaseFile?
    }

    /// The same state of a store that is at `old` now, wherever it was when the run began.
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

    /// Folds records into the state they describe; records that make no sense where they stand are passed over.
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
        case (.rolledBack, .interrupted(let current)), (.restored, .interrupted(let current)):
            return current.former.map { .shared($0) } ?? current.voided.map { .voided($0) } ?? .none
        case (.voided, .shared(let shared)):
            return .voided(shared)
        case (.voided, .interrupted(var current)):
            (current.former, current.voided) = (nil, current.former ?? current.voided)
            return .interrupted(current)
        case (.base(let base), .unsharing(var shared, let transaction)):
            shared.base = base
            return .unsharing(shared, transaction: transaction)
        // Nothing was brought back: what held before holds again.
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
                    // The old store's fence, the receipt and their run stay what they are where the new one was only read.
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
            // A later base holds the rows that are undone now: compared with it, they would read as deletions.
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
    /// What both places held last: a copy leaves a base of its own or none, and what copied nothing leaves the former one.
    fileprivate var keptBase: JournalRecord.BaseFile? {
        if let merging { return merging.base }
        return publication == nil && replacement == nil ? former?.base : base
    }

    /// The merges that stand once the run has come to its end: a copy leaves none of the former ones.
    fileprivate var standingMerges: [RunState.StandingMerge] {
        guard publication == nil, replacement == nil else { return [] }
        var merges = former?.merges ?? []
        guard let merging else { return merges }
        // A base is as large as the store: only that of the last merge is kept.
        for index in merges.indices { merges[index].before?.base = nil }
        let before = former.map { RunState.BeforeMerge(oldState: $0.oldState, base: $0.base) }
        let takesNew = merging.takesNew == true
        return merges + [RunState.StandingMerge(epoch: merging.epoch, takesNew: takesNew, before: before)]
    }

    fileprivate mutating func add(_ record: JournalRecord) {
        switch record {
        case .nest(let identity): nest = identity
        case .aside(let identity): aside = identity
        case .publishing(let publication): self.publication = publication
        case .replacing(let replacement): self.replacement = replacement
        case .published(let identity): published = identity
        case .fenced: isFenced = true
        case .proved(let digest): provedDigest = digest
        case .base(let file): base = file
        // A merge of another store into this one has a state of its own, and is no step of this run.
        case .merging(let merging) where merging.oldState != nil: self.merging = merging
        default: break
        }
    }
}
