/// The protocol as a machine: which actions are possible in a state, and the states that they lead to.
package struct ProtocolModel: Sendable {
    /// What commands and apps may do.
    package struct Scope: Sendable {
        package var commands: [Verb]
        package var processes = 1
        /// The places whose journals commands use.
        package var homes: [Place] = [.old]
        /// True if apps create a store where there is none.
        package var appsCreate = false
        /// True if a proof of the published store may fail, and a call fail at any step.
        package var hasFailures = false
        /// True if records that depend on what the model leaves out may be appended.
        package var hasOptionalRecords = false
        /// The flaws that are treated as corrected.
        package var corrected: Set<OpenFlaw> = []

        package init(_ commands: [Verb]) { self.commands = commands }
    }

    package let scope: Scope
    let programs: Programs
    let mistake: KnownMistake?

    package init(_ scope: Scope, _ mistake: KnownMistake? = nil) {
        (self.scope, self.mistake) = (scope, mistake)
        programs = Programs(mistake)
    }

    /// Everything that may happen in a state.
    package func steps(from state: ProtocolState) -> [ModelStep] {
        var steps: [ModelStep] = []
        for index in state.processes.indices {
            let first = steps.count
            advance(index, in: state, &steps)
            disturb(index, in: state, &steps)
            for number in first..<steps.count { steps[number].actor = state.processes[index].command }
        }
        if state.processes.count < scope.processes { start(in: state, &steps) }
        write(in: state, &steps)
        if state.budget.powerCuts > 0 { cutPower(in: state, &steps) }
        return steps
    }

    // MARK: Commands

    private func start(in state: ProtocolState, _ steps: inout [ModelStep]) {
        let locked = state.processes.reduce(0) { $0 | $1.journalLocks }
        for command in scope.commands {
            for home in command.isAtNew ? [Place.new] : scope.homes + (command == .resume ? [.new] : [])
            where locked & home.bit == 0 {
                guard isReady(command, home, in: state) else { continue }
                var next = state
                var process = Decisions(state, self).next(CommandProcess(command, at: home))
                // A command that finds nothing to do changes nothing.
                guard process.program != .end else { continue }
                process.journalLocks = home.bit
                next.processes.append(process)
                steps.append(ModelStep(action: .start(command, home), state: next))
            }
        }
    }

    /// False while a command would wait, or leave the place to another command first.
    private func isReady(_ command: Verb, _ home: Place, in state: ProtocolState) -> Bool {
        let new = state.journals[.new]
        let isOtherRunning = new.phase == .running && new.current.isInPlace
        switch command {
        case .share, .capture, .shareKeepingOld, .shareMerging, .unshare, .retire:
            // An interrupted run of the store that is written to is recovered first, by a `resume` of that store.
            return command == .retire || !isOtherRunning
        case .merge:
            let old = state.journals[.old]
            return old.phase == .none && (!old.standing.isPresent || old.standing.isVoid)
        case .resume where home == .new: return isOtherRunning
        case .resume, .mergeRecorded, .restore, .migrate: return true
        }
    }

    /// The next instruction of a process.
    private func advance(_ index: Int, in state: ProtocolState, _ steps: inout [ModelStep]) {
        let process = state.processes[index]
        let instruction = programs[process.program, process.step]
        var execution = Execution(model: self, state: state, index: index)
        steps += execution.steps(of: instruction)
    }

    // MARK: Disturbances

    private func disturb(_ index: Int, in state: ProtocolState, _ steps: inout [ModelStep]) {
        guard state.budget.crashes > 0 else { return }
        let process = state.processes[index]
        var next = state
        next.processes.remove(at: index)
        next.budget.crashes -= 1
        steps.append(ModelStep(action: .crash, state: next))
        guard scope.hasFailures else { return }
        let journal = state.journals[process.from]
        guard journal.phase == .running, journal.current.run == process.run, process.run != .none else { return }
        let isCommitted = Execution.isCommitted(journal.current, state)
        var failed = state
        failed.budget.crashes -= 1
        failed.processes[index].step = 0
        failed.processes[index].storeLocks = 0
        if !isCommitted {
            failed.processes[index].program = .rollBack
        } else if journal.current.isPublished, !journal.current.isInPlace, journal.current.hasStaging {
            failed.processes[index].program = .failProof
        } else {
            return
        }
        steps.append(ModelStep(action: .failure, state: failed))
    }

    private func write(in state: ProtocolState, _ steps: inout [ModelStep]) {
        guard state.budget.writes > 0 else { return }
        let locked = state.processes.reduce(0) { $0 | $1.storeLocks }
        let places = scope.homes + [.new]
        for place in places where locked & place.bit == 0 {
            let store = state.stores[place]
            let creates = !store.isPresent && place == .new && scope.appsCreate
            guard store.takesWrites || creates else { continue }
            var next = state
            let row = Rows.written(state.budget.written)
            if creates { next.stores[place] = StoreFile.empty }
            next.stores[place].rows.formUnion(row)
            // A durable commit of SQLite's flushes the folder, in which it has created its log or journal.
            next.stores[place].isNameUnsynced = false
            next.acknowledged.formUnion(row)
            next.budget.written += 1
            next.budget.writes -= 1
            steps.append(ModelStep(action: .write(row, place), state: next))
        }
    }

    /// A power cut ends every process; each name and content that was not flushed is kept or lost.
    private func cutPower(in state: ProtocolState, _ steps: inout [ModelStep]) {
        var start = state
        start.processes = []
        start.budget.powerCuts -= 1
        var outcomes = [start]
        for place in Place.allCases {
            outcomes = outcomes.flatMap { Self.losses(at: place, in: $0) }
        }
        steps += outcomes.map { ModelStep(action: .powerCut, state: $0) }
    }

    private static func losses(at place: Place, in state: ProtocolState) -> [ProtocolState] {
        var outcomes = [state]
        func branch(
            _ condition: (ProtocolState) -> Bool,
            _ lose: (inout ProtocolState) -> Void,
            _ keep: (inout ProtocolState) -> Void
        ) {
            outcomes = outcomes.flatMap { outcome in
                guard condition(outcome) else { return [outcome] }
                var (lost, kept) = (outcome, outcome)
                lose(&lost)
                keep(&kept)
                return [lost, kept]
            }
        }
        branch(
            { $0.stores[place].isContentUnsynced },
            { state in
                state.stores[place].isTorn = true
                state.stores[place].isContentUnsynced = false
                state.stores[place].rows = []
            },
            { $0.stores[place].isContentUnsynced = false }
        )
        branch(
            { $0.stores[place].isNameUnsynced },
            { $0.loseName(of: place) },
            { $0.stores[place].isNameUnsynced = false }
        )
        branch(
            { $0.renamed[place].isNameUnsynced },
            { state in
                var store = StoreFile(rows: state.renamed[place].rows)
                store.isSealed = true
                let renamed = state.renamed[place]
                (store.fence, store.copy, store.file) = (renamed.fence, renamed.copy, renamed.file)
                state.stores[place] = store
                (state.renamed[place].isPresent, state.renamed[place].isNameUnsynced) = (false, false)
                state.renamed[place].rows = []
            },
            { $0.renamed[place].isNameUnsynced = false }
        )
        branch(
            { $0.renamed[place].isRemovalUnsynced },
            { state in
                state.renamed[place].isRemovalUnsynced = false
                state.renamed[place].isPresent = true
                state.renamed[place].rows = state.renamed[place].archived
            },
            { $0.renamed[place].isRemovalUnsynced = false }
        )
        branch({ $0.journals[place].hasUnsyncedRecord }, { $0.loseRecord(of: place) }, { _ in })
        return outcomes.map { outcome in
            var outcome = outcome
            outcome.journals[place].hasUnsyncedRecord = false
            return outcome
        }
    }
}

extension ProtocolState {
    /// Puts a published file back into its staging folder, as a lost rename does.
    fileprivate mutating func loseName(of place: Place) {
        let store = stores[place]
        stores[place] = .absent
        for home in Place.allCases where staging[home].run == store.file && staging[home].run != .none {
            staging[home].hasMain = true
        }
    }

    /// Loses the last record of a run: the announcement of its publication.
    fileprivate mutating func loseRecord(of place: Place) {
        journals[place].current.isPublishing = false
    }
}
