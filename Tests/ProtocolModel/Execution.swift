/// Carries out one instruction of a process.
struct Execution {
    let model: ProtocolModel
    let state: ProtocolState
    let index: Int
    var next: ProtocolState
    var process: CommandProcess

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
        case .decideReverseShare:
            process = Decisions(next, model).nextReverseShare(process)
            if process.program == .giveUpUnshare { giveUpDisplaced() }
            return process.program == .end ? steps(of: .end) : [done("decides: \(process.program)")]
        default: return [carryOut(instruction)]
        }
    }

    mutating func done(_ name: String, _ flaw: String? = nil) -> ModelStep {
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
    mutating func rollBack(_ reason: String) -> ModelStep {
        process.storeLocks = 0
        process.step = 0
        let isReverseShare = process.from == .new && process.home != .new
        if next.journals[process.from].phase == .running {
            process.program = isReverseShare ? .rollBackBack : .rollBack
            // What the command was asked for is left to the next call.
            if !isReverseShare { process.command = .resume }
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
            if !current.hasStaging, !current.isMerging { details.isFenced = next.stores[process.from].fence != .none }
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

    /// A receipt names the run before it, too, which is in force again now.
    private mutating func restoreReceipt(of journal: Journal) {
        guard journal.phase == .running, journal.standing.isPresent,
            next.receipts[journal.current.to] == journal.current.run
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
        if let refusal = refusalOfInterruptedShare() ?? refusalOfUnfinishedUnshare() { return [refusal] }
        let receipt = state.receipts[.new]
        for place in [Place.old, .other] where place != process.from {
            let share = state.journals[place].standing
            guard share.isPresent, !share.isVoid, !share.isRetired,
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

    /// Waits for a share that has published to the place, or asks for its recovery.
    private mutating func refusalOfInterruptedShare() -> ModelStep? {
        guard process.from == process.to else { return nil }
        for place in [Place.old, .other] {
            let journal = state.journals[place]
            guard journal.phase == .running else { continue }
            // A run that copies nothing has compared the store, and relies on its content: a restore should see that, too.
            let isReliedOn =
                journal.current.hasStaging
                ? Self.isCommitted(journal.current, state) : model.scope.corrected.contains(.comparisonDuringRestore)
            guard isReliedOn else { continue }
            let isLocked = state.processes.contains { $0.journalLocks & place.bit != 0 }
            return isLocked ? timeOut() : rollBack("finds an interrupted share to the new path")
        }
        return nil
    }

    /// The rollback of an unfinished unshare would put a record in force again that no longer holds.
    private mutating func refusalOfUnfinishedUnshare() -> ModelStep? {
        let places = [Place.old, .other].filter { $0 != process.from }
        let isUnfinished = places.map { state.journals[$0] }
            .contains { $0.phase == .unsharing && state.receipts[.new] == $0.standing.run }
        return isUnfinished ? rollBack("finds an unfinished unshare") : nil
    }

    /// The run in progress, whose receipt names the run before it, too.
    private func knownToo(_ place: Place) -> Run? {
        let journal = state.journals[place]
        return journal.phase == .running ? journal.current.run : nil
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
