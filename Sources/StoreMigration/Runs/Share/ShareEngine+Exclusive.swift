import Logging
import SafeFiles
import StoreAccess
import StoreFormat
import StoreStrategies

/// The part of a share under the journal's lock: no strategy runs here.
extension ShareEngine {
    /// Carries out what both paths and the journal require now; nil when strategies or the caller must be asked again.
    func shareExclusively(
        _ prospect: Prospect,
        _ file: DescriptionsFile?,
        _ consent: PlanConsent?,
        _ journal: inout MigrationJournal
    ) throws -> ShareOutcome? {
        if case .interrupted = journal.state { return nil }
        var cause: any Error = DestinationAppeared(path: new.path)
        for _ in 1...Self.mostAttempts {
            if let shared = try unchangedSince(journal.state) {
                guard pipeline.isEmpty else { return nil }
                let plan = SharePlan(already: shared, at: new)
                return try writing(describing(.already(shared, plan, openFindings(plan)), nil), to: file)
            }
            let facts = try gatherer.facts(
                state: journal.state,
                modelFile: options.modelFile,
                migratingTo: prospect.target
            )
            let plan = SharePlanner(facts: facts, options: options).plan()
            var described: DescribedStore?
            if let question = try question(about: plan, facts) {
                guard let known = try prospect.described?.answering(question) else { return nil }
                described = known
            }
            let whole = try describing(plan, described)
            if let consent, whole.work != nil, try !consent.covers(whole) { return nil }
            do {
                return try carryOut(whole, facts, described, file, &journal)
            } catch is DestinationAppeared {
                logger.notice("the destination was created during the copy; planning again")
                cause = DestinationAppeared(path: new.path)
            } catch let error as OldStoreWritten {
                logger.notice("the old store was written to after it was inspected; planning again")
                cause = error
            }
        }
        throw MigrationError(cause)
    }

    private func carryOut(
        _ plan: SharePlan,
        _ facts: PlanningFacts,
        _ described: DescribedStore?,
        _ file: DescriptionsFile?,
        _ journal: inout MigrationJournal
    ) throws -> ShareOutcome {
        guard let inspection = facts.oldCondition.inspection, let work = plan.work else {
            try renewToken(plan, facts, &journal)
            let outcome = try outcome(of: plan, facts: facts, state: journal.state)
            return try writing(describing(outcome, described), to: file)
        }
        let backup = try SafetyBackup(of: old, in: options.backupFolder, surroundings).make()
        var context = try RunContext(
            transaction: RunContext.drawTransaction(),
            old: old,
            new: new,
            settings: options.runSettings,
            surroundings: surroundings,
            probeWriter: probeWriter
        )
        try surroundings.requireTrusted(context.container)
        context.described = plan.copies ? described : nil
        context.target = plan.migration?.target ?? (work == .merge ? facts.migration?.target : nil)
        context.descriptions =
            plan.copies
            ? described?.descriptions ?? [.app: inspection.mirroredDescription(at: new)]
            : try descriptionsInForce(described, facts.newCondition.inspection) {
                // A receipt that names none of our runs may be any store's.
                try facts.earlierRun == nil ? [:] : recorded()
            }
        // Written before publication, so that a full disk stops the run in time.
        let staged = try file?.stage(context.descriptions)
        let result = try carryOut(work, context, inspection, &journal)
        do {
            try staged?.commit()
        } catch {
            throw MigrationError.sharedWithoutDescriptions(error, transaction: result.transaction)
        }
        return try outcome(of: plan, inspection: inspection, result: result).adding(backup?.findings ?? [])
    }

    private func carryOut(
        _ work: ShareWork,
        _ context: RunContext,
        _ inspection: StoreInspection,
        _ journal: inout MigrationJournal
    ) throws -> RunResult {
        if work.liftsFence { try FenceLifting(context).lift(&journal) }
        switch work {
        case .publish:
            return try publish(context, inspection, &journal)
        case .replaceContent:
            let place = OccupiedDestination(context, journalledIn: context.stateFolder)
            return try JournalledRun(CopyRun(context, inspection: inspection, to: place)).carryOut(&journal)
        case .merge:
            let run = PairMergeRun(
                context,
                identity: inspection.identity,
                base: journal.state.base.map { .kept($0) },
                takesNew: false,
                fencing: options.treatment == .fence
            )
            do {
                return try run.run(&journal)
            } catch let error as MigrationError {
                throw error.sharing(old: old, new: new)
            }
        case .protect(let protection):
            return try JournalledRun(ProtectRun(context, inspection: inspection, protection)).carryOut(&journal)
        }
    }

    private func publish(
        _ context: RunContext,
        _ inspection: StoreInspection,
        _ journal: inout MigrationJournal
    ) throws -> RunResult {
        guard options.treatment == .capture, try !context.canLockOldStore() else {
            let run = CopyRun(context, inspection: inspection, to: VacantDestination(context))
            return try JournalledRun(run).carryOut(&journal)
        }
        var result: RunResult?
        return try gatherer.reader.withView(of: old) { view in
            if let result { return result }
            guard view.kind != .live else {
                throw MigrationError(.busy, "the old store has a writer and cannot be locked", path: old.path)
            }
            let run = CopyRun(context, inspection: inspection, to: VacantDestination(context), view: view)
            let made = try JournalledRun(run).carryOut(&journal)
            result = made
            return made
        }
    }

    /// Records the caller's choice for later merges, and a new token: a checkpoint changes the files but not the content,
    /// and the next check is cheap again.
    private func renewToken(_ plan: SharePlan, _ facts: PlanningFacts, _ journal: inout MigrationJournal) throws {
        guard plan.outcome == .alreadyShared, case .shared(let shared) = journal.state,
            let reading = facts.earlierRun?.oldReading
        else { return }
        if let settings = options.merging, settings != shared.run.choices.merging {
            try journal.append(.choosing(settings))
        }
        try journal.append(.renewed(shared.oldState.renewed(reading)))
    }
}
