import Logging
import SafeFiles
import StoreBackup
import StoreFormat
import StoreVerification

/// Publishes the store of an unpacked backup at its destination, with the steps and the journal of a share.
///
/// The unpacked store is copied into a staging folder beside the destination and proved there. Then it is renamed into
/// place, or, after a copy of the existing store was kept, replaces that store's content in one transaction. The
/// unpacked store gets no fence and is not kept.
struct RestoreRun {
    let unpacked: UnpackedBackup
    let place: StoreLocation
    let options: RestoreOptions
    let surroundings: Surroundings

    private var monitor: WorkMonitor { surroundings.monitor }
    private var logger: Logger { surroundings.logger }
    private var stateFolder: StateFolder { surroundings.stateFolder(of: place) }
    private var gatherer: FactsGatherer {
        FactsGatherer(old: unpacked.location, new: place, surroundings: surroundings)
    }

    func run() throws -> RestoreOutcome {
        try PlacesCheck(old: unpacked.location, new: place).require()
        let container = try RunContext.openContainer(place)
        try surroundings.requireTrusted(container)
        return try stateFolder.withJournal(deadline: surroundings.lockDeadline()) { journal in
            if case .interrupted(let run) = journal.state {
                logger.notice("an interrupted run is recovered first")
                try RunRecovery(run, settings: RestoreOptions.runSettings, surroundings: surroundings)
                    .recover(&journal)
            }
            // An unreadable store needs no settlement: it is replaced, and the restored store shows which merges it
            // contains.
            if try gatherer.status(of: place) != nil, (try? gatherer.reader.withView(of: place) { _ in }) != nil {
                try MergeSettlement(of: place, surroundings)
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
            "the store at this path was shared to another path",
            path: place.path,
            advice: "Restore to \(path), which its programs open."
        )
    }

    private func onItsWay(_ run: JournalRecord.RunIdentity) -> MigrationError {
        MigrationError(
            .needsDecision,
            "an unshare to this path was interrupted",
            path: place.path,
            advice: "Finish it first with the unshare command.",
            next: .unshare(old: place.path, new: run.new.path)
        )
    }

    private func restore(_ journal: inout MigrationJournal) throws -> RestoreOutcome {
        let judge = RestoreJudge(backup: unpacked.inspection, place: place, options: options, gatherer: gatherer)
        let condition = try gatherer.condition(of: place)
        let decision = try judge.decision(on: condition)
        if decision == .leave {
            return outcome(nil, findings: carryRelay(), message: "the destination already has the backup's content")
        }
        let context = try RunContext(
            transaction: RunContext.drawTransaction(),
            old: unpacked.location,
            new: place,
            settings: RestoreOptions.runSettings,
            surroundings: surroundings
        )
        let former = decision == .clear ? try gatherer.status(of: place).map { $0.mode & 0o666 } : nil
        let mode = condition.inspection?.mode ?? former ?? unpacked.manifest.store.mode
        var result: RestoreOutcome?
        return try gatherer.reader.withView(of: unpacked.location) { view in
            // The reader repeats the closure when its private copy was touched; the restore must not run twice.
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
            // The restored store may predate the common state of its pairs, at a vacant destination too.
            try PairRecords(store: place, surroundings: surroundings)
                .void(because: "a backup was restored", holding: &journal, at: stateFolder)
            try destination.place(copy, oldToken: view.token, digest: unpacked.manifest.store.digest, &journal)
            RunMoment.placed.pass()
        } catch {
            if destination.placed != nil { throw MigrationError(error).afterPublishing }
            try destination.rollBack(context, nest, &journal, cause: error)
            if error is DestinationAppeared {
                throw MigrationError(.busy, "another process created a store at the destination", path: place.path)
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
                message: isKept ? "the former store is kept" : "the destination was vacant"
            )
        } catch {
            throw MigrationError(error).afterPublishing
        }
    }

    /// The copy in the staging folder, flushed to disk, with the backup's content digest.
    private func proved(_ context: RunContext, _ view: StoreView, in nest: Nest, mode: UInt32) throws -> StagedCopy {
        let copy = try StagedCopy(context, nest: nest, mode: mode, view: view)
        try copy.build()
        try copy.prove()
        try copy.catchUp()
        try copy.proveCompleted()
        guard try copy.contentDigest() == unpacked.manifest.store.digest else {
            throw MigrationError(
                .verificationFailed,
                "the copy differs from the backup",
                path: place.path,
                advice: "Check the disk; the destination is unchanged."
            )
        }
        try nest.folder.synchronize()
        return copy
    }

    private func carryRelay() -> [Finding] {
        RelayCarriage(old: unpacked.location, new: place, legacyChanges: [], lockTimeout: surroundings.lockTimeout)
            .carry()
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
