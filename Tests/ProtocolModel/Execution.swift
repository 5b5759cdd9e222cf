/// Carries out one instruction of a process.
struct Execution {
    let model: ProtocolModel
    let state: ProtocolState
    let index: Int
    private var next: ProtocolState
    private var process: CommandProcess

    init(model: ProtocolModel, state: ProtocolState, index: Int) {
        (self.model, self.state, self.index) = (model, state, index)
        next = state
        process = state.processes[index]
        process.step += 1
    }

    /// True if the run has passed its commit point.
    static func isCommitted(_ run: CurrentRun, _ state: ProtocolState) -> Bool {
        let place = state.stores[run.to]
        if run.isPublished { return true }
        if run.isMerging { return place.mark == run.run }
        return (run.isPublishing || run.isReplacing) && place.isPresent && [place.copy, place.file].contains(run.run)
    }

    /// The possible results; none for a lock that another process holds, which the process may only stop waiting for.
    mutating func steps(of instruction: Instruction) -> [ModelStep] {
        switch instruction {
        case .append(let record): return [append(record)]
        case .appendUnlessThere(let record):
            return [isThere(record) ? done("finds \(record.rawValue) in the journal") : append(record)]
        case .keepUntouchedBase:
            let (old, new, run) = (
                state.stores[process.from], state.stores[process.to], state.journals[process.from].current
            )
            return [old.rows != run.rows && new.rows == run.rows ? append(.base) : done("keeps no base")]
        case .mayAppend(let record):
            let skipped = done("appends no \(record.rawValue)")
            return model.scope.hasOptionalRecords ? [skipped, append(record)] : [skipped]
        case .lockStore(let role): return lock(store: role == .from ? process.from : process.to)
        case .lockJournalOfNew:
            let others = state.processes.enumerated()
                .reduce(0) { $1.offset == index ? $0 : $0 | $1.element.journalLocks }
            guard others & Place.new.bit == 0 else { return [timeOut()] }
            process.journalLocks |= Place.new.bit
            return [done("locks the journal of the new store")]
        case .voidPairs: return voidPairs()
        case .readContent where isReplacedMeanwhile: return [timeOut()]
        case .end:
            release()
            return [ModelStep(action: .step("ends"), state: next)]
        case .decide:
            next.processes[index] = process
            process = Decisions(next, model).next(process)
            return process.program == .end ? steps(of: .end) : [done("decides: \(process.program)")]
        case .decideWayBack:
            process = Decisions(next, model).nextWayBack(process)
            if process.program == .giveUpUnshare { giveUpDisplaced() }
            return process.program == .end ? steps(of: .end) : [done("decides: \(process.program)")]
        default: return [carryOut(instruction)]
        }
    }

    private mutating func done(_ name: String, _ flaw: String? = nil) -> ModelStep {
        next.processes[index] = process
        return ModelStep(action: .step(name), state: next, flaw: flaw)
    }

    /// Ends the process and removes its empty journals.
    private mutating func release() {
        next.processes.remove(at: index)
    }

    private func timeOut() -> ModelStep {
        var next = state
        next.processes.remove(at: index)
        return ModelStep(action: .timeOut, state: next)
    }

    private mutating func lock(store place: Place) -> [ModelStep] {
        let others = state.processes.enumerated().reduce(0) { $1.offset == index ? $0 : $0 | $1.element.storeLocks }
        guard others & place.bit == 0 else { return [timeOut()] }
        guard state.stores[place].isPresent else { return [rollBack("finds no \(place) store")] }
        process.storeLocks |= place.bit
        return [done("locks the \(place) store")]
    }

    /// Rolls back before the commit point, as an error there does.
    private mutating func rollBack(_ reason: String) -> ModelStep {
        process.storeLocks = 0
        process.step = 0
        let isWayBack = process.from == .new && process.home != .new
        if next.journals[process.from].phase == .running {
            process.program = isWayBack ? .rollBackBack : .rollBack
            // What the command was asked for is left to the next call.
            if !isWayBack { process.command = .resume }
        } else {
            process.program = .end
        }
        return done(reason)
    }

    // MARK: Records

    private func isThere(_ record: Record) -> Bool {
        let journal = state.journals[process.from]
        return switch record {
        case .published: journal.current.isPublished
        case .fenced: journal.current.isFenced || !journal.current.fences
        case .archived: journal.standing.isArchived
        default: false
        }
    }

    private mutating func append(_ record: Record) -> ModelStep {
        var details = Journal.Details()
        var place = process.from
        switch record {
        case .begin:
            if process.run == .none { process.run = next.unusedRun }
            let captures: [Program] = [
                .publishCaptured, .replaceCaptured, .protectCaptured, .protectWithoutBase, .mergePair,
            ]
            details.to = process.to
            details.isInPlace = process.from == process.to
            details.migrates = process.program == .migrateInPlace
            details.fences = !details.isInPlace && !captures.contains(process.program)
            details.run = process.run
        case .unsharing:
            process.run = next.unusedRun
            details.run = process.run
        case .merging where process.from == .new:
            process.run = next.unusedRun
            details.run = process.run
        case .publishing, .replacing:
            let isWrong = model.mistake == .copyNotCompleted
            details.rows = isWrong ? next.stores[process.from].rows : next.staging[process.from].rows
            details.displaced = next.staging[process.from].displaced
        case .merging: details.rows = next.journals[process.from].current.rows
        case .done:
            let current = next.journals[process.from].current
            details.rows = current.rows
            let former = next.journals[process.from].standing
            let wasFenced = former.isPresent && !former.isVoid && former.isFenced
            details.isFenced = current.isFenced || (current.isMerging && wasFenced)
            if !current.hasNest, !current.isMerging { details.isFenced = next.stores[process.from].fence != .none }
        case .unshared: place = process.home
        case .rolledBack where process.program == .giveUpUnshare: place = process.home
        default: break
        }
        let record = record == .unmerged && isMerged ? Record.merged : restoredRecord(record)
        if record == .rolledBack { restoreReceipt(of: next.journals[place]) }
        let isAdmitted = next.journals[place].append(record, details)
        if record == .done || record == .merged || record == .unmerged { next.stores[.new].mark = .none }
        next.journals[place].hasUnsyncedRecord = model.mistake == .recordNotFlushed && record == .publishing
        next.processes[index] = process
        let flaw =
            isAdmitted ? nil : "the record \(record.rawValue) is out of place in the journal of the \(place) store"
        return ModelStep(action: .append(record, details, place), state: next, flaw: flaw)
    }

    /// The receipt of the run that is in force again: so it should be.
    private mutating func restoreReceipt(of journal: Journal) {
        guard model.scope.corrected.contains(.receiptOfRolledBackRun), journal.phase == .running,
            journal.standing.isPresent, next.receipts[journal.current.to] == journal.current.run
        else { return }
        next.receipts[journal.current.to] = journal.standing.run
    }

    /// True if the store has the merge that its journal began.
    private var isMerged: Bool {
        state.journals[.new].merge != .none && state.stores[.new].mark == state.journals[.new].merge
    }

    /// Recovery ends a migration as a migration.
    private func restoredRecord(_ record: Record) -> Record {
        record == .restored && state.journals[process.from].current.migrates ? .migrated : record
    }

    // MARK: Voiding

    /// Voids the record of one pair after the other, each under its journal's lock.
    private mutating func voidPairs() -> [ModelStep] {
        if let refusal = refusalOfInterruptedShare() { return [refusal] }
        let receipt = state.receipts[.new]
        for place in [Place.old, .other] where place != process.from {
            let share = state.journals[place].standing
            guard share.isPresent, !share.isVoid, !share.isRetired, isVoidable(place),
                receipt == share.run || receipt == knownToo(place)
            else { continue }
            let isLocked = state.processes.enumerated()
                .contains { $0.offset != index && $0.element.journalLocks & place.bit != 0 }
            if isLocked { return [timeOut()] }
            var details = Journal.Details()
            details.run = .none
            let isAdmitted = next.journals[place].append(.voided, details)
            // From here on the stores are no pair.
            if next.stores[.new].source == place { next.stores[.new].source = nil }
            process.step -= 1
            next.processes[index] = process
            let flaw = isAdmitted ? nil : "the record voided is out of place"
            return [ModelStep(action: .append(.voided, details, place), state: next, flaw: flaw)]
        }
        return [done("finds no record to void")]
    }

    /// Waits for a share that has published to the place, or asks for its recovery: so a restore should.
    private mutating func refusalOfInterruptedShare() -> ModelStep? {
        guard model.scope.corrected.contains(.restoreOverInterruptedShare), process.from == process.to else {
            return nil
        }
        for place in [Place.old, .other] {
            let journal = state.journals[place]
            // A run that copies nothing has compared the store, and relies on its content.
            guard journal.phase == .running,
                !journal.current.hasNest || Self.isCommitted(journal.current, state)
            else { continue }
            let isLocked = state.processes.contains { $0.journalLocks & place.bit != 0 }
            return isLocked ? timeOut() : rollBack("finds an interrupted share to the new path")
        }
        return nil
    }

    /// The run in progress, whose receipt does not name the run before it: so it should.
    private func knownToo(_ place: Place) -> Run? {
        let journal = state.journals[place]
        let isCorrected = model.scope.corrected.contains(.receiptOfRolledBackRun)
        return isCorrected && journal.phase == .running ? journal.current.run : nil
    }

    /// True if the record is looked for in this state of its journal.
    private func isVoidable(_ place: Place) -> Bool {
        state.journals[place].phase != .unsharing || model.scope.corrected.contains(.restoreDuringUnshare)
    }

    /// True while another command is about to replace the store that this one compares: so it should wait.
    private var isReplacedMeanwhile: Bool {
        guard model.scope.corrected.contains(.comparisonDuringRestore) else { return false }
        return state.processes.enumerated()
            .contains { $0.offset != index && $0.element.storeLocks & process.to.bit != 0 }
    }

    private mutating func giveUpDisplaced() {
        next.kept.formUnion(next.staging[.new].displaced)
        next.staging[.new] = Staging()
    }

    // MARK: Changes

    private mutating func carryOut(_ instruction: Instruction) -> ModelStep {
        switch instruction {
        case .archive, .requireSettled, .seal, .sealNot, .liftSeal, .rename, .synchronizeRename, .removeRenamed,
            .synchronizeRemoval:
            return retire(instruction)
        case .commitFence, .commitFenceUnlessSet, .commitFenceAndKeepLock, .liftOwnFence, .liftFence:
            return fence(instruction)
        case .makeStaging, .copy, .copyBackup, .completeCopy, .completeCopyUnsynced, .synchronizeCopy, .copyDisplaced,
            .keepBase, .pinSource,
            .readContent, .removeStaging:
            return stage(instruction)
        default: return publish(instruction)
        }
    }

    private mutating func stage(_ instruction: Instruction) -> ModelStep {
        let (from, to) = (process.from, process.to)
        switch instruction {
        case .makeStaging:
            next.staging[from] = Staging()
            next.staging[from].run = process.run
            return done("creates its staging folder")
        case .copy, .copyBackup:
            next.staging[from].hasMain = true
            next.staging[from].rows = instruction == .copyBackup ? .first : next.stores[from].rows
            next.staging[from].isSynced = instruction == .copyBackup || from == to
            return done(instruction == .copyBackup ? "copies the backup" : "copies the \(from) store without its lock")
        case .completeCopy, .completeCopyUnsynced:
            next.staging[from].rows = next.stores[from].rows
            next.staging[from].isSynced = instruction == .completeCopy
            return done("completes the copy under the lock\(instruction == .completeCopy ? ", and flushes it" : "")")
        case .synchronizeCopy:
            next.staging[from].isSynced = true
            return done("flushes the copy")
        case .copyDisplaced:
            next.staging[from].hasDisplaced = true
            next.staging[from].displaced = next.stores[to].rows
            return done("copies the \(to) store, which it is about to replace")
        case .keepBase: return done("keeps a copy of the shared content as a base")
        case .readContent:
            let (rows, standing) = (next.stores[from].rows, next.journals[from].standing)
            let isSettled = standing.isPresent && !standing.isVoid && rows == standing.common
            guard rows.isEmpty || rows == next.stores[to].rows || isSettled else {
                return rollBack("finds late writes in the \(from) store")
            }
            next.journals[from].current.rows = rows
            return done("reads the content of the \(from) store")
        case .pinSource:
            next.journals[from].current.rows = next.stores[from].rows
            next.journals[from].current.hasBase = true
            return done("keeps a copy of the \(from) store as the next base")
        default:
            removeStaging()
            return done("removes its staging folder")
        }
    }

    /// Removes the folder; the copy of a replaced store stays if the run passed its commit point, or may have.
    private mutating func removeStaging() {
        let (run, staging) = (next.journals[process.from].current, next.staging[process.from])
        next.staging[process.from] = Staging()
        guard staging.hasDisplaced else { return }
        let isUndecided =
            if case .undecided = Decisions(state, model).rule(run, from: process.from) { true } else { false }
        if process.program == .rollBackBack, isUndecided {
            next.staging[process.from].run = staging.run
            next.staging[process.from].hasDisplaced = true
            next.staging[process.from].displaced = staging.displaced
        } else if run.isPublished || isUndecided {
            next.kept.formUnion(staging.displaced)
        }
        // The caller decides about a store that may have either content: it counts as another store from here on.
        if isUndecided { next.stores[run.to].source = nil }
    }

    private mutating func publish(_ instruction: Instruction) -> ModelStep {
        let (from, to) = (process.from, process.to)
        switch instruction {
        case .publishMain:
            guard !next.stores[to].isPresent else { return rollBack("finds a store at its destination") }
            var store = StoreFile(rows: next.staging[from].rows)
            (store.copy, store.file, store.source) = (process.run, process.run, from == to ? nil : from)
            store.isNameUnsynced = true
            store.isContentUnsynced = !next.staging[from].isSynced
            next.stores[to] = store
            next.staging[from].hasMain = false
            return done("renames its copy to the \(to) path")
        case .synchronizeFolder:
            next.stores[to].isNameUnsynced = false
            return done("flushes the folder of the \(to) store")
        case .requireUnchanged:
            // A migration replaces the store that it has copied.
            let expected = from == to ? next.staging[from].rows : next.journals[process.home].standing.common
            return next.stores[to].rows == expected
                ? done("checks the store that it replaces")
                : rollBack("finds late writes in the store that it replaces")
        case .requireExpendable:
            return next.stores[to].rows.isEmpty || process.command == .shareKeepingOld
                ? done("checks the store that it replaces") : rollBack("finds rows in the store that it replaces")
        case .replaceContent:
            let changes = next.staging[from].rows != next.staging[from].displaced
            let isRepeated = next.stores[to].copy == process.run && changes
            next.stores[to].rows = next.staging[from].rows
            next.stores[to].copy = process.run
            // A store that had the content before is no copy.
            if changes { next.stores[to].source = from == to ? nil : from }
            (next.stores[to].fence, next.stores[to].mark) = (.none, .none)
            // A commit of SQLite's flushes the folder.
            next.stores[to].isNameUnsynced = false
            process.storeLocks &= ~to.bit
            return done(
                "replaces the content of the \(to) store",
                isRepeated ? "a run passes its commit point twice" : nil
            )
        case .displaceUnreadable:
            next.stores[to] = .absent
            return done("moves the unreadable store out of the way")
        case .commitMerge, .commitLoneMerge:
            let isPair = instruction == .commitMerge
            next.stores[to].rows.formUnion(isPair ? next.journals[from].current.rows : next.stores[.old].rows)
            next.stores[to].mark = process.run
            next.stores[to].isNameUnsynced = false
            process.storeLocks = 0
            return done("merges into the \(to) store")
        case .writeReceipt:
            next.receipts[to] = process.run
            // The receipt's own rename is flushed with the folder.
            next.stores[to].isNameUnsynced = false
            return done("writes the receipt of the \(to) store")
        case .unlockStore(let role):
            process.storeLocks &= ~(role == .from ? from : to).bit
            return done("releases the \(role == .from ? from : to) store")
        default:
            process.journalLocks &= ~Place.new.bit
            return done("releases the journal of the new store")
        }
    }

    private mutating func fence(_ instruction: Instruction) -> ModelStep {
        let from = process.from
        switch instruction {
        case .commitFenceUnlessSet:
            let isAsked = next.journals[from].current.fences && next.stores[from].isPresent
            guard isAsked, next.stores[from].fence != process.run else { return done("needs no fence") }
            next.stores[from].fence = process.run
            return done("fences the \(from) store")
        case .liftOwnFence:
            let journal = next.journals[from]
            let isFormers = journal.standing.isPresent && journal.standing.isFenced && !journal.standing.isRetired
            if next.stores[from].fence == process.run, !isFormers { next.stores[from].fence = .none }
            return done("lifts its own fence if it has set one")
        case .liftFence:
            next.stores[from].fence = .none
            return done("lifts the fence of the \(from) store")
        default:
            next.stores[from].fence = process.run
            if instruction == .commitFence { process.storeLocks &= ~from.bit }
            return done("fences the \(from) store")
        }
    }

    private mutating func retire(_ instruction: Instruction) -> ModelStep {
        let place = process.from
        let isWithdrawal = place == .new
        switch instruction {
        case .requireSettled:
            return next.stores[place].rows == next.journals[place].standing.common
                ? done("finds no late writes in the \(place) store")
                : rollBack("finds late writes in the \(place) store")
        case .archive:
            // It is named after the run; an archive of an earlier run has other rows.
            let (archived, rows) = (next.renamed[place].archived, next.stores[place].rows)
            guard !next.renamed[place].hasArchive || archived != rows else { return done("finds its archive") }
            next.renamed[place].hasArchive = true
            next.renamed[place].archived =
                next.stores[place].isPresent ? next.stores[place].rows : next.renamed[place].rows
            return done("archives the \(place) store")
        case .seal:
            guard next.stores[place].rows == next.journals[place].standing.common else {
                return rollBack("finds late writes in the \(place) store")
            }
            next.stores[place].isSealed = true
            return done("marks the \(place) store as read-only")
        case .sealNot: return done("does not mark the \(place) store")
        case .liftSeal:
            next.stores[place].isSealed = false
            return done("removes the read-only marker")
        case .rename:
            guard next.stores[place].isPresent else { return rollBack("finds no \(place) store") }
            next.renamed[place].isPresent = true
            next.renamed[place].isNameUnsynced = true
            if isWithdrawal { next.kept.formUnion(next.stores[place].rows) }
            next.renamed[place].rows = next.stores[place].rows
            let store = next.stores[place]
            (next.renamed[place].fence, next.renamed[place].copy, next.renamed[place].file) = (
                store.fence, store.copy, store.file
            )
            for copied in Place.allCases where next.stores[copied].source == place { next.stores[copied].source = nil }
            next.stores[place] = .absent
            if isWithdrawal { next.receipts[place] = .none }
            return done("renames the \(place) store")
        case .synchronizeRename:
            next.renamed[place].isNameUnsynced = false
            return done("flushes the rename")
        case .removeRenamed:
            if next.renamed[place].isPresent { next.renamed[place].isRemovalUnsynced = true }
            next.renamed[place].isPresent = false
            next.renamed[place].rows = []
            return done("removes the renamed store")
        default:
            next.renamed[place].isRemovalUnsynced = false
            return done("flushes the removal")
        }
    }
}

extension ProtocolState {
    /// A transaction ID that nothing names.
    var unusedRun: Run {
        let used = Set(runs)
        return (1...Run.most).lazy.map(Run.init(number:)).first { !used.contains($0) } ?? .past
    }

    private var runs: [Run] {
        Place.allCases.flatMap { place in
            let (store, journal) = (stores[place], journals[place])
            return [
                store.fence, store.copy, store.file, store.mark, journal.standing.run, journal.current.run,
                journal.unshare,
                journal.merge, receipts[place], staging[place].run,
            ]
        } + processes.map(\.run)
    }
}
