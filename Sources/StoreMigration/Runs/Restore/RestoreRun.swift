import FoundationEssentials
import Logging
import SafeFiles
public import StoreAccess
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
        try container.requireRoom(forDisplacing: place)
        return try stateFolder.withJournal(deadline: surroundings.lockDeadline()) { journal in
            if case .interrupted(let run) = journal.state {
                logger.notice("an interrupted run is recovered first")
                try RunRecovery(run, settings: .inPlace, surroundings: surroundings)
                    .recover(&journal)
            }
            // An unreadable store needs no settlement: it is replaced, and the restored store shows which merges it
            // contains.
            if try gatherer.status(of: place) != nil, (try? gatherer.reader.read(place) { _ in }) != nil {
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
        // Checked again when the content is replaced.
        try PairRecords(store: place, surroundings: surroundings).requireReplaceable()
        let context = try RunContext(
            transaction: RunContext.drawTransaction(),
            old: unpacked.location,
            new: place,
            settings: .inPlace,
            surroundings: surroundings
        )
        let former = decision == .clear ? try gatherer.status(of: place).map { $0.mode & 0o666 } : nil
        let mode = condition.inspection?.mode ?? former ?? unpacked.manifest.store.mode
        return decision == .replace
            ? try carryOut(context, mode: mode, &journal) { OccupiedDestination(context, journalledIn: stateFolder) }
            : try carryOut(context, mode: mode, &journal) { VacantDestination(context, clears: decision == .clear) }
    }

    private func carryOut<Destination: CopyDestination>(
        _ context: RunContext,
        mode: UInt32,
        _ journal: inout MigrationJournal,
        to destination: @escaping () -> Destination
    ) throws -> RestoreOutcome {
        let digest = unpacked.manifest.store.digest
        var run = InPlaceRun(
            context,
            to: { _ in destination() },
            stage: { folder in
                try gatherer.reader.withView(of: unpacked.location) { view in
                    StagedContent(
                        copy: try proved(context, view, in: folder(), mode: mode),
                        token: view.token,
                        digest: digest
                    )
                }
            }
        )
        run.restores = digest
        // The restored store may predate the common state of its pairs, at a vacant destination too.
        run.voidRecords = { journal in
            try PairRecords(store: place, surroundings: surroundings)
                .void(because: "a backup was restored", holding: &journal, at: stateFolder)
        }
        run.carryAlong = carryRelay
        let result = try run.run(&journal)
        return outcome(
            context.transaction,
            keptAside: result.keptAside,
            report: result.copy.proof?.report,
            findings: result.findings,
            message: result.keptAside != nil ? "the former store is kept" : "the destination was vacant"
        )
    }

    /// The copy in the staging folder, flushed to disk, with the backup's content digest.
    private func proved(_ context: RunContext, _ view: StoreView, in staging: StagingFolder, mode: UInt32) throws
        -> StagedCopy
    {
        let copy = try StagedCopy(context, staging: staging, mode: mode, view: view)
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
        try staging.folder.synchronize()
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

extension Finding.Code {
    /// A backup was made before the run changed anything.
    public static let backedUp = Finding.Code(rawValue: "backedUp")
}

/// The optional backup before a share.
struct SafetyBackup {
    let store: StoreLocation
    let folder: URL?
    let surroundings: Surroundings

    init(of store: StoreLocation, in folder: URL?, _ surroundings: Surroundings) {
        self.store = store
        self.folder = folder
        self.surroundings = surroundings
    }

    /// Makes the backup if there is a folder for it, and returns its report; a failure stops the run before it writes.
    func make() throws -> (report: BackupReport, findings: [Finding])? {
        guard let folder else { return nil }
        let report = try BackupFolder(at: folder, monitor: surroundings.monitor)
            .add(store.url, options: surroundings.backup)
        let finding = Finding(.backedUp, .info, level: .files, "a backup was made first", path: report.path)
        return (report, report.findings + [finding])
    }
}
