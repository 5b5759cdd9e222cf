/// What a command carries out next, decided under its locks from what is there, as the planner and the recovery decide.
struct Decisions {
    let state: ProtocolState
    let mistake: KnownMistake?

    init(_ state: ProtocolState, _ model: ProtocolModel) {
        (self.state, mistake) = (state, model.mistake)
    }

    /// The process with its next program; `end` when nothing is left to do.
    func next(_ process: CommandProcess) -> CommandProcess {
        var process = process
        let journal = state.journals[process.home]
        (process.step, process.run) = (0, .none)
        (process.from, process.to) = (process.home, .new)
        process.program = .end
        switch journal.phase {
        case .running:
            process.to = journal.current.to
            process.run = journal.current.run
            process.program = recovery(of: journal.current, from: process.home, process.command)
        case .unsharing where process.command.shares || [.unshare, .resume].contains(process.command):
            process.program = .enterReverseShare
        case .unsharing: break
        case .none:
            // A retirement that was interrupted is finished first, or its marker removed.
            process.program = leftover(process, journal.standing) ?? atRest(process, journal)
        }
        return process
    }

    // MARK: Recovery

    private func recovery(of run: CurrentRun, from home: Place, _ command: Verb) -> Program {
        if mistake == .rolledBackAfterPublishing, run.isPublishing { return .rollBack }
        return switch rule(run, from: home) {
        case .back: .rollBack
        case .forward: run.isInPlace ? .finishInPlace : run.isMerging ? .finishMerge : .finishCopy
        case .undecided:
            [.shareKeepingOld, .shareMerging, .unshare, .restore, .migrate].contains(command) ? .rollBack : .end
        }
    }

    func rule(_ run: CurrentRun, from home: Place) -> RecoveryRule {
        RecoveryRule(
            run,
            state.stores[run.to],
            fencesFirst: home == .new && run.to != .new,
            keptDisplaced: state.staging[home].hasDisplaced
        )
    }

    // MARK: Retirement

    private func leftover(_ process: CommandProcess, _ share: StandingShare) -> Program? {
        guard share.isPresent, !share.isVoid, process.home != .new else { return nil }
        let (store, renamed) = (state.stores[process.home], state.renamed[process.home])
        if share.isRetired { return share.isArchived && !share.isRemoved ? .removeRenamed : nil }
        if share.isRetiring, !store.isPresent, renamed.isPresent { return .finishRename }
        return share.isRetiring && store.isSealed && process.command != .retire ? .liftMarker : nil
    }

    // MARK: Plans

    private func atRest(_ process: CommandProcess, _ journal: Journal) -> Program {
        switch process.command {
        case .share, .capture, .shareKeepingOld, .shareMerging: share(process, journal.standing)
        case .unshare: unshare(process, journal.standing)
        case .retire: retire(process, journal.standing)
        case .resume: .end
        case .mergeRecorded: mergeRecorded(process, journal.standing)
        case .restore, .merge, .migrate: atNew(process, journal)
        }
    }

    private func share(_ process: CommandProcess, _ share: StandingShare) -> Program {
        let (old, new) = (state.stores[process.home], state.stores[.new])
        let captures = process.command == .capture
        guard old.isPresent else { return .end }
        guard !new.isPresent || new.takesWrites else { return .end }
        if share.isPresent, !share.isVoid, !share.isRetired, new.isPresent {
            if old.rows == share.common { return again(process, share, old) }
            guard share.hasBase else { return .end }
            return captures ? .mergePair : .mergePairAndFence
        }
        if new.isPresent, !new.rows.isEmpty {
            if old.rows.isEmpty { return captures ? .protectWithoutBase : .protect }
            if old.rows == new.rows { return captures ? .protectCaptured : .protect }
            if process.command == .shareMerging { return .mergePairAndFence }
            guard process.command == .shareKeepingOld else { return .end }
        }
        if old.fence != .none { return .liftFence }
        guard new.isPresent else { return captures ? .publishCaptured : .publish }
        return captures ? .replaceCaptured : .replace
    }

    private func again(_ process: CommandProcess, _ share: StandingShare, _ old: StoreFile) -> Program {
        process.command == .capture || old.fence != .none ? .renew : .protect
    }

    private func mergeRecorded(_ process: CommandProcess, _ share: StandingShare) -> Program {
        let (old, new) = (state.stores[process.home], state.stores[.new])
        guard share.isPresent, !share.isVoid, !share.isRetired, old.isPresent, new.takesWrites else { return .end }
        return old.rows == share.common && !share.leavesRows ? .end : .mergePair
    }

    private func retire(_ process: CommandProcess, _ share: StandingShare) -> Program {
        let isReady = share.isPresent && !share.isVoid && !share.isRetired && state.stores[process.home].isPresent
        return isReady && state.stores[.new].isPresent ? .retire : .end
    }

    private func unshare(_ process: CommandProcess, _ share: StandingShare) -> Program {
        let (old, new) = (state.stores[process.home], state.stores[.new])
        guard share.isPresent, !share.isVoid, new.takesWrites, isOurs(share, process.home) else { return .end }
        guard !share.isRetired, old.isPresent, old.rows != share.common else { return .beginUnshare }
        return share.hasBase ? .mergePair : .end
    }

    /// True if the store at the new path is the one of this share, and not another pair's since.
    private func isOurs(_ share: StandingShare, _ home: Place) -> Bool {
        let new = state.stores[.new]
        return new.isPresent && share.common.isSubset(of: new.rows)
    }

    private func atNew(_ process: CommandProcess, _ journal: Journal) -> Program {
        let new = state.stores[.new]
        if journal.merge != .none { return .settleMerge }
        let isInUse = journal.standing.isPresent && !journal.standing.isVoid && !journal.standing.isRetired
        guard !new.isPresent || new.takesWrites, !isInUse else { return .end }
        switch process.command {
        case .restore: return !new.isPresent ? .restoreToVacancy : new.rows == .first ? .end : .restoreOver
        case .migrate: return new.isPresent ? .migrateInPlace : .end
        default:
            let source = state.stores[.old]
            guard new.isPresent, source.isPresent, !source.rows.isSubset(of: new.rows) else { return .end }
            return .loneMerge
        }
    }

    // MARK: The way back

    /// What an unshare does next under both locks.
    func nextReverseShare(_ process: CommandProcess) -> CommandProcess {
        var process = process
        let journal = state.journals[.new]
        let run = state.journals[process.home].unshare
        (process.step, process.from, process.to, process.run) = (0, .new, process.home, run)
        process.program = .end
        if journal.phase == .running {
            let rule = rule(journal.current, from: .new)
            process.run = journal.current.run
            process.to = journal.current.to
            if case .forward = rule {
                if !process.command.shares {
                    process.program = journal.current.isInPlace ? .finishInPlace : .finishBack
                }
            } else if case .back = rule {
                process.program = .rollBackBack
            } else if !process.command.shares {
                process.program = .rollBackBack
            }
            return process
        }
        if journal.standing.isPresent, journal.standing.run == run {
            if !process.command.shares { process.program = withdrawal(journal.standing) }
            return process
        }
        // The withdrawn store shows by its fence that the unshare is finished, if its journal has no record of it any more.
        if state.renamed[.new].isPresent, state.renamed[.new].fence == run {
            if !process.command.shares { process.program = .endUnshare }
            return process
        }
        let keepsDisplaced = state.staging[.new].hasDisplaced
        if process.command.shares {
            process.program = keepsDisplaced ? .end : .giveUpUnshare
        } else if keepsDisplaced || hasLateWrites(process.home) {
            process.program = .giveUpUnshare
        } else if state.stores[.new].isPresent {
            process.program = state.stores[process.home].isPresent ? .bringBack : .bringBackToVacancy
        }
        return process
    }

    private func hasLateWrites(_ home: Place) -> Bool {
        let (store, share) = (state.stores[home], state.journals[home].standing)
        return store.isPresent && !share.isRetired && store.rows != share.common
    }

    private func withdrawal(_ share: StandingShare) -> Program {
        if share.isRetired { return .endUnshare }
        if state.stores[.new].isPresent { return .withdraw }
        return share.isRetiring && state.renamed[.new].isPresent ? .finishWithdrawal : .end
    }
}
