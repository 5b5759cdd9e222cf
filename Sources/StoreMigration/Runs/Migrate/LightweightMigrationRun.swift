import ChangeMerging
import FoundationEssentials
import Logging
import ModelMigration
import SafeFiles
import StoreAccess
import StoreFormat
import StoreVerification

/// Migrates the store at one path, with the steps and the journal of a share.
///
/// To the pairs of the store a migration is what its own app does: their records stay valid, and late writes of the former
/// version are migrated before they are merged.
struct LightweightMigrationRun {
    let place: StoreLocation
    let target: MigrationTarget
    let surroundings: Surroundings

    private var stateFolder: StateFolder { surroundings.stateFolder(of: place) }
    private var gatherer: FactsGatherer { FactsGatherer(old: place, new: place, surroundings: surroundings) }

    func run() throws -> LightweightMigrationOutcome {
        let container = try RunContext.openContainer(place)
        try surroundings.requireTrusted(container)
        try SnapshotRecord.requireNoSnapshot(at: place, in: container)
        try requireInUse(stateFolder.state())
        // No journal is begun for a store that needs no migration, or cannot be migrated.
        let hasJournal = try stateFolder.isThere()
        if !hasJournal {
            if let outcome = try upToDate(requirePossible(forecast())) { return outcome }
            try requireWritable()
        }
        return try stateFolder.withJournal(deadline: surroundings.lockDeadline()) { journal in
            if case .interrupted(let run) = journal.state {
                surroundings.logger.notice("an interrupted run is recovered first")
                // What a share left undecided is not decided by a migration.
                let settings = RunSettings(treatment: .capture, level: .content)
                try RunRecovery(run, settings: settings, surroundings: surroundings).recover(&journal)
            }
            try requireInUse(journal.state)
            // The rows were examined above, and those of the copy are examined before it is migrated.
            let forecast = try requirePossible(forecast(examinesRows: hasJournal))
            if let outcome = upToDate(forecast) { return outcome }
            try requireWritable()
            try MergeSettlement(of: place, surroundings).settle(&journal, in: stateFolder.open())
            return try migrate(forecast, &journal)
        }
    }

    // MARK: Deciding

    /// What a run would do; throws what would stop it.
    func dryRun() throws -> MigrationForecast {
        try SnapshotRecord.requireNoSnapshot(at: place, in: RunContext.openContainer(place))
        try requireInUse(stateFolder.state())
        let forecast = try forecast(countsLosses: true)
        if forecast.verdict == .inferred { try requireWritable() }
        return forecast
    }

    /// Throws unless this user can write the store and its journal.
    private func requireWritable() throws {
        try stateFolder.requireWritable(advisesCapture: false)
        let container = try RunContext.openContainer(place)
        try container.requireRoom(forDisplacing: place)
        try ShareRequirements.requireWritable(place, in: container) { reason in
            MigrationError(
                .notWritable,
                "cannot write to the store: \(reason)",
                path: place.path,
                advice: "Run as its owner, or give this user write access: chmod, setfacl, chattr -i -a."
            )
        }
    }

    /// What a run would do; reads the store, and every row if requirements depend on rows and `examinesRows` is true.
    func forecast(examinesRows: Bool = true, countsLosses: Bool = false) throws -> MigrationForecast {
        let inspection = try inspection()
        if inspection.fence != nil, let succession = try Succession(of: place, surroundings) {
            throw MigrationError.outOfUse(succession, next: .inspect(path: succession.store.path))
        }
        let holders = OpenFiles.holders(of: inspection.identity)
            .filter { $0 != ProcessInfo.processInfo.processIdentifier }
        return try surroundings.reader.read(place) { view in
            var mapping: InferredMapping?
            do {
                let migrator = try ModelMigrator(view.connection, to: target, external: view.externalData)
                mapping = migrator.mapping
                guard !migrator.isUpToDate else { return forecast(.compatible, mapping, holders: holders) }
                if examinesRows { try migrator.check() }
                // A run reports what its own copy loses.
                let lost = countsLosses ? try migrator.lostValues() : []
                return forecast(.inferred, mapping, losing: lost, holders: holders)
            } catch let error as MappingRefusals {
                return forecast(.refused, mapping, error.refusals, holders: holders)
            }
        }
    }

    private func forecast(
        _ verdict: MigrationForecast.Verdict,
        _ mapping: InferredMapping?,
        _ refusals: [MappingRefusal] = [],
        losing lostValues: [LostValues] = [],
        holders: [Int32]
    ) -> MigrationForecast {
        MigrationForecast(
            verdict: verdict,
            path: place.path,
            target: target,
            mapping: mapping,
            refusals: refusals,
            lostValues: lostValues,
            holders: holders
        )
    }

    private func requirePossible(_ forecast: MigrationForecast) throws -> MigrationForecast {
        if let error = forecast.error { throw error }
        return forecast
    }

    private func inspection() throws -> StoreInspection {
        let condition = try surroundings.silent.inspector(.layout).inspect(place)
        switch condition {
        case .unreadable(let store): throw MigrationError(store)
        case .store(let inspection): return inspection
        case .absent, .emptyFile, .orphanSidecar:
            if let succession = try Succession(of: place, surroundings) {
                throw MigrationError.outOfUse(succession, next: .inspect(path: succession.store.path))
            }
            guard case .orphanSidecar = condition else {
                throw MigrationError(.nothingFound, "there is no store to migrate", path: place.path)
            }
            throw MigrationError(.orphanSidecar, "a log or journal exists without the store", path: place.path)
        }
    }

    /// Throws when the journal shows that the data is, or will be, at another path.
    private func requireInUse(_ state: RunState) throws {
        switch state {
        case .none, .retired, .interrupted, .voided: return
        case .shared(let shared):
            throw MigrationError(
                .needsDecision,
                "the store at this path was shared to another path",
                path: place.path,
                advice: "Migrate \(shared.run.new.path), which its programs open.",
                next: .inspect(path: shared.run.new.path)
            )
        case .unsharing(let shared, _):
            throw MigrationError(
                .needsDecision,
                "an unshare to this path was interrupted",
                path: place.path,
                advice: "Finish it first with the unshare command.",
                next: .unshare(old: place.path, new: shared.run.new.path)
            )
        }
    }

    // MARK: Migrating

    private func migrate(
        _ forecast: MigrationForecast,
        _ journal: inout MigrationJournal
    ) throws -> LightweightMigrationOutcome {
        let context = try RunContext(
            transaction: RunContext.drawTransaction(),
            old: place,
            new: place,
            settings: .inPlace,
            surroundings: surroundings
        )
        let reading = try OldStateRecorder.read(place, in: context.container)
        var migrated: ModelMigrator.Result?
        var run = InPlaceRun(
            context,
            to: { OccupiedDestination(context, expecting: $0.source, journalledIn: nil) },
            stage: { folder in
                try surroundings.reader.withView(of: place) { view in
                    let (staged, done) = try stage(context, view, reading, in: folder())
                    migrated = done
                    return staged
                }
            }
        )
        run.migratesTo = target.path
        let result: ReplacedStore
        do {
            result = try run.run(&journal)
        } catch is DestinationWritten {
            throw MigrationError(
                .busy,
                "programs wrote to the store while it was migrated",
                path: place.path,
                advice: "Nothing was changed. Stop them, then run the command again."
            )
        }
        return LightweightMigrationOutcome(
            outcome: .migrated,
            transaction: context.transaction,
            path: place.path,
            target: target,
            mapping: forecast.mapping,
            copiedTables: migrated?.copiedTables ?? [],
            extendedTables: migrated?.extendedTables ?? [],
            removedFiles: try removed(migrated?.orphanedFiles ?? [], in: context.container),
            keptAside: result.keptAside,
            report: result.copy.proof?.report,
            findings: result.findings + Finding.open(in: forecast.holders, at: place.path),
            message: "the former store is kept"
        )
    }

    /// The files without a reference that are gone; one stays if another store uses the folder, or if it changed.
    private func removed(_ names: [String], in container: Directory) throws -> [String] {
        let folder = try container.externalData(of: place)
        return try names.filter { try folder?.status(of: $0) == nil }
    }

    /// A copy that is migrated, and proved against the store.
    private func stage(
        _ context: RunContext,
        _ view: StoreView,
        _ reading: TokenReading,
        in staging: StagingFolder
    ) throws -> (StagedContent, ModelMigrator.Result) {
        // A view of a store that is written all the time has no still main file, and the store would change again before
        // the commit.
        guard view.kind != .live else { throw DestinationWritten() }
        try requireSpace(view, in: context.container)
        let copy = try StagedCopy(context, staging: staging, mode: view.status.mode, view: view, isInPlace: true)
        try copy.build()
        try copy.catchUp()
        let migration = StagedMigration(
            target: target,
            place: place,
            staged: copy.location,
            external: view.externalData,
            monitor: surroundings.monitor
        )
        let (_, migrated) = try migration.carryOut()
        let image = try StoreConnection(copy.location, access: .immutable)
        let proof = try migration.prove(image, migratedFrom: view.connection, migrated)
        try image.close()
        copy.recordMigration(orphanedFiles: migrated.orphanedFiles, proof)
        let source = try expectation(view, reading, in: context.container)
        return (StagedContent(copy: copy, token: view.token, digest: nil, source: source), migrated)
    }

    /// The state in which the store was read.
    ///
    /// Its content is compared at the end only if the token will not suffice: a program with the store open may move its
    /// log into the main file, and a token proves nothing that was read too soon after a write.
    private func expectation(_ view: StoreView, _ reading: TokenReading, in container: Directory) throws
        -> RequiredState
    {
        let isSettled =
            try reading.token == view.token && view.kind == .immutable
            && OldStateRecorder.isWhollyUnchanged(reading, at: place, in: container)
        let digest =
            isSettled
            ? nil
            : try StoreDigest(
                of: view.connection,
                externalData: view.externalData,
                monitor: surroundings.monitor
            )
        return RequiredState(
            reading: isSettled ? reading : TokenReading(token: view.token, takenAt: 0),
            digest: digest?.value
        )
    }

    /// Throws when the file system lacks room for the migrated copy, the copy that is kept, and the log of the
    /// replacement.
    private func requireSpace(_ view: StoreView, in container: Directory) throws {
        var needed = 4 * (view.status.size + (view.token.writeAheadLog?.size ?? 0))
        for name in try view.externalData?.names() ?? NameList() {
            needed += try view.externalData?.status(of: name)?.size ?? 0
        }
        let free = try container.freeBytes()
        guard free > needed / 5 * 6 else {
            throw MigrationError(
                .noSpace,
                "the migration needs \(needed / 5 * 6) bytes and \(free) are free",
                path: place.folder
            )
        }
    }

    private func upToDate(_ forecast: MigrationForecast) -> LightweightMigrationOutcome? {
        guard forecast.verdict == .compatible else { return nil }
        return LightweightMigrationOutcome(
            outcome: .migrated,
            transaction: nil,
            path: place.path,
            target: target,
            mapping: forecast.mapping,
            copiedTables: [],
            extendedTables: [],
            removedFiles: [],
            keptAside: nil,
            report: nil,
            findings: [],
            message: "the store already has this model version"
        )
    }
}

extension Finding {
    /// Names the processes that have the store open; nothing without any.
    static func open(in holders: [Int32], at path: String) -> [Finding] {
        guard !holders.isEmpty else { return [] }
        let names = (holders.count == 1 ? "process " : "processes ") + OpenFiles.names(of: holders)
        return [
            Finding(
                .storeOpen,
                .warning,
                level: .files,
                "the store is open in \(names): restart it with the new model",
                path: path
            )
        ]
    }
}
