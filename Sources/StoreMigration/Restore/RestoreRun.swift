import Logging
import SafeFiles
import StoreBackup
import StoreFormat
import StoreVerification

/// Puts the store of an unpacked backup into its place, by the steps and the journal of a share.
///
/// The unpacked store is copied into a nest beside the place and proved there; then it moves in, or replaces what is there
/// in one transaction after a copy of that was kept aside. Nothing of the unpacked store is fenced or kept.
struct RestoreRun {
    let unpacked: UnpackedBackup
    let place: StoreLocation
    let options: RestoreOptions
    let monitor: WorkMonitor
    let logger: Logger

    private var gatherer: FactsGatherer {
        FactsGatherer(old: unpacked.location, new: place, options: options.asShare, monitor: monitor)
    }

    private var stateFolder: StateFolder { StateFolder(of: place, stateFolder: nil) }

    func run() throws -> RestoreOutcome {
        try PlacesCheck(old: unpacked.location, new: place).require()
        let container = try RunContext.openContainer(place)
        try ShareRequirements(old: unpacked.location, new: place, options: options.asShare).requireTrusted(container)
        return try stateFolder.withJournal(deadline: Deadline(after: options.lockTimeout)) { journal in
            if case .interrupted(let run) = journal.state {
                logger.notice("an interrupted run is recovered first")
                try RunRecovery(run, options: options.asShare, monitor: monitor, logger: logger).recover(&journal)
            }
            // A store that nobody can read is replaced without a question; the one that comes tells which merges it has seen.
            if try gatherer.status(of: place) != nil, (try? gatherer.reader.withView(of: place) { _ in }) != nil {
                try MergeSettlement(of: place, reader: gatherer.reader, lockTimeout: options.lockTimeout)
                    .settle(&journal, in: stateFolder.open())
            }
            switch journal.state {
            case .none, .retired, .interrupted, .voided: return try restore(&journal)
            case .shared(let shared): throw elsewhere(shared.run.new.path)
            case .unsharing(let shared, _): throw onItsWay(shared.run)
            }
        }
    }

    private func elsewhere(_ path: String) -> MigrationError {
        MigrationError(
            .needsDecision,
            "the store of this place was shared to another one",
            path: place.path,
            advice: "Restore to \(path), where its programs look for it."
        )
    }

    private func onItsWay(_ run: JournalRecord.RunIdentity) -> MigrationError {
        MigrationError(
            .needsDecision,
            "the store that this place was shared to is on its way back",
            path: place.path,
            advice: "Finish that first with the unshare command.",
            next: .unshare(old: place.path, new: run.new.path)
        )
    }

    private func restore(_ journal: inout MigrationJournal) throws -> RestoreOutcome {
        let judge = RestoreJudge(backup: unpacked.inspection, place: place, options: options, gatherer: gatherer)
        let condition = try gatherer.condition(of: place)
        let decision = try judge.decision(on: condition)
        if decision == .leave {
            return outcome(nil, findings: carryRelay(), message: "the store there holds what the backup holds")
        }
        let context = try RunContext(
            transaction: RunContext.drawTransaction(),
            old: unpacked.location,
            new: place,
            options: options.asShare,
            monitor: monitor,
            logger: logger
        )
        let former = decision == .clear ? try gatherer.status(of: place).map { $0.mode & 0o666 } : nil
        let mode = condition.inspection?.mode ?? former ?? unpacked.manifest.store.mode
        var result: RestoreOutcome?
        return try gatherer.reader.withView(of: unpacked.location) { view in
            // Lent again after somebody had touched a folder that is ours alone; the work is done.
            if let result { return result }
            let done =
                decision == .replace
                ? try carryOut(
                    context,
                    view,
                    mode: mode,
                    at: OccupiedPlace(context, journalledIn: stateFolder),
                    &journal
                )
                : try carryOut(
                    context,
                    view,
                    mode: mode,
                    at: VacantPlace(context, clears: decision == .clear),
                    &journal
                )
            result = done
            return done
        }
    }

    private func carryOut(
        _ context: RunContext,
        _ view: StoreView,
        mode: UInt32,
        at destination: some CopyDestination,
        _ journal: inout MigrationJournal
    ) throws -> RestoreOutcome {
        let identity = try context.container.status(of: place.name)?.identity ?? context.container.status().identity
        try journal.append(
            .begin(
                JournalRecord.RunIdentity(
                    transaction: context.transaction,
                    old: place,
                    oldIdentity: identity,
                    new: place,
                    policy: .capture,
                    restores: unpacked.manifest.store.digest
                )
            )
        )
        var nest: Nest?
        let copy: StagedCopy
        do {
            let made = try Nest(creating: context.transaction, in: context.container)
            nest = made
            try journal.append(.nest(made.identity))
            RunMoment.copying.pass()
            copy = try proved(context, view, in: made, mode: mode)
            try monitor.checkCancellation()
            monitor.report(.publishing, 0, of: 1)
            RunMoment.publishing.pass()
            // What comes may be older than what both stores of a pair had in common, in a vacant place as well.
            try PairRecords(store: place, options: options.asShare)
                .void(because: "a backup was restored", holding: &journal, at: stateFolder)
            try destination.place(copy, oldToken: view.token, digest: unpacked.manifest.store.digest, &journal)
            RunMoment.placed.pass()
        } catch {
            if destination.placed != nil { throw MigrationError(error).afterPublishing }
            try takeBack(context, nest, destination, &journal, cause: error)
            if error is DestinationAppeared {
                throw MigrationError(.busy, "a store appeared at the place meanwhile", path: place.path)
            }
            throw error
        }
        do {
            try destination.tidy(after: copy)
            let findings = (copy.proof?.findings ?? []) + carryRelay()
            try nest?.remove()
            try journal.append(.restored)
            monitor.report(.publishing, 1, of: 1)
            RunMoment.published.pass()
            let aside = place.folder + "/" + AsideFolder.name(for: context.transaction)
            let isKept = try context.container.status(of: AsideFolder.name(for: context.transaction)) != nil
            return outcome(
                context.transaction,
                keptAside: isKept ? aside : nil,
                report: copy.proof?.report,
                findings: findings,
                message: isKept ? "what was there is kept aside" : "nothing was there"
            )
        } catch {
            throw MigrationError(error).afterPublishing
        }
    }

    /// The copy in the nest, durable, and equal to what the backup holds.
    private func proved(_ context: RunContext, _ view: StoreView, in nest: Nest, mode: UInt32) throws -> StagedCopy {
        let copy = try StagedCopy(context, nest: nest, mode: mode, view: view)
        try copy.build()
        try copy.prove()
        try copy.catchUp()
        try copy.proveCompleted()
        guard try copy.contentDigest() == unpacked.manifest.store.digest else {
            throw MigrationError(
                .verificationFailed,
                "the copy does not hold what the backup holds",
                path: place.path,
                advice: "Check the disk; nothing was changed at the place."
            )
        }
        try nest.folder.synchronize()
        return copy
    }

    private func takeBack(
        _ context: RunContext,
        _ nest: Nest?,
        _ destination: some CopyDestination,
        _ journal: inout MigrationJournal,
        cause: any Error
    ) throws {
        do {
            try destination.putBack()
            try (nest ?? Nest(of: context.transaction, identity: nil, in: context.container))?.remove()
            try journal.append(.rolledBack)
        } catch {
            logger.error("taking back failed", metadata: ["error": "\(error)", "cause": "\(cause)"])
            throw MigrationError(cause).afterPublishing
        }
    }

    private func carryRelay() -> [Finding] {
        RelayCarriage(old: unpacked.location, new: place, options: options.asShare).carry()
    }

    private func outcome(
        _ transaction: String?,
        keptAside: String? = nil,
        report: VerificationReport? = nil,
        findings: [Finding],
        message: String
    ) -> RestoreOutcome {
        RestoreOutcome(
            outcome: .restored,
            transaction: transaction,
            path: place.path,
            manifest: unpacked.manifest,
            keptAside: keptAside,
            report: report,
            findings: findings,
            message: message
        )
    }
}
