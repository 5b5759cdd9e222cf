import ChangeMerging
import Logging
import SafeFiles
import StoreAccess
import StoreStrategies
import StoreVerification

/// A merge between the stores of a recorded pair: uses their base, and is recorded as a run.
struct PairMerge {
    private let from: StoreLocation
    private let into: StoreLocation
    private let options: MergeOptions
    private let surroundings: Surroundings
    private let folder: StateFolder
    private let shared: RunState.SharedRun
    /// True when the old store receives the new one's content.
    private let takesNew: Bool

    /// Nil when no record says that one store was shared to the other.
    init?(_ from: StoreLocation, into: StoreLocation, options: MergeOptions, surroundings: Surroundings) throws {
        (self.from, self.into, self.options, self.surroundings) = (from, into, options, surroundings)
        for (old, new) in [(from, into), (into, from)] {
            let folder = surroundings.stateFolder(of: old)
            let gatherer = FactsGatherer(old: old, new: new, surroundings: surroundings)
            guard let state = try folder.ifUsable({ try $0.state() }),
                case .shared(let shared) = try gatherer.standing(state),
                try gatherer.newPlace(of: shared) == .ours
            else { continue }
            // Without a common base, the old store receives the new one's rows like those of any store.
            guard old == from || shared.base != nil else { continue }
            try gatherer.requireMergesStand(shared)
            (self.folder, self.shared, takesNew) = (folder, shared, old == into)
            return
        }
        return nil
    }

    private var old: StoreLocation { takesNew ? into : from }
    private var new: StoreLocation { takesNew ? from : into }

    private var gatherer: FactsGatherer { FactsGatherer(old: old, new: new, surroundings: surroundings) }

    private var base: PairMergeRun.Base? {
        options.base.map { .named(StoreLocation(url: $0)) } ?? shared.base.map { .kept($0) }
    }

    /// True when the old store has nothing new for the new one.
    func isSettled() throws -> Bool {
        // Rows that a decision left in the old store are not in the new one, although nothing was written since.
        guard !takesNew, options.base == nil, shared.completion.leavesRows != true else { return false }
        return try gatherer.isUnchanged(shared.oldState)
    }

    /// What the merge would do; throws when it is refused.
    func summary() throws -> MergeSummary {
        do {
            return try PairMergePreview(
                base: base,
                from: from,
                into: into,
                keepsKeys: takesNew,
                folder: folder,
                settings: options.mergeSettings,
                surroundings: surroundings
            )
            .summary()
        } catch let error as MigrationError {
            throw advised(error)
        }
    }

    /// Merges in a run of the pair's journal; nil if the record has changed meanwhile.
    func merge() throws -> StoreMergeOutcome? {
        try folder.withJournal(deadline: surroundings.lockDeadline()) { journal in
            guard case .shared(let current) = journal.state, current == shared,
                let identity = try gatherer.status(of: old)?.identity
            else { return nil }
            var context = try RunContext(
                transaction: RunContext.drawTransaction(),
                old: old,
                new: new,
                settings: options.runSettings(keeping: shared.run.choices),
                surroundings: surroundings
            )
            context.descriptions = try Receipt.descriptions(of: new)
            let run = PairMergeRun(context, identity: identity, base: base, takesNew: takesNew, fencing: false)
            do {
                return try outcome(run.run(&journal))
            } catch let error as MigrationError {
                throw advised(error)
            }
        }
    }

    /// A merge that needs a decision leads to the share of the pair, which uses the recorded base; without a base only a
    /// person can go on.
    private func advised(_ error: MigrationError) -> MigrationError {
        guard error.outcome == .needsDecision, base != nil else { return error }
        return error.leading(
            to: takesNew ? .status(old: old.path, new: new.path) : .share(old: old.path, new: new.path)
        )
    }

    private func outcome(_ result: RunResult) throws -> StoreMergeOutcome {
        guard let merge = result.merge else {
            throw MigrationError(.failed, "the run merged nothing", path: into.path)
        }
        let isMerged = !merge.summary.isIdle && !merge.summary.changesNothing
        return StoreMergeOutcome(
            outcome: isMerged ? .merged : .done,
            epoch: isMerged ? result.transaction : nil,
            summary: merge.summary,
            parkedRows: merge.parkedRows,
            rekeyedObjects: merge.rekeyedObjects,
            report: result.report,
            findings: result.findings + result.report.findings,
            message: isMerged ? "merged" : "there was nothing to merge",
            next: isMerged ? .verify(store: into.path) : nil
        )
    }
}

/// Checks, without writing, whether a merge between the stores of a pair would succeed.
struct PairMergePreview {
    let base: PairMergeRun.Base?
    let from: StoreLocation
    let into: StoreLocation
    let keepsKeys: Bool
    let folder: StateFolder
    let settings: MergeSettings
    /// True if the caller asked for a migration of the old store's rows.
    var migrates = false
    let surroundings: Surroundings

    /// What the merge would do; throws what would stop it.
    func summary() throws -> MergeSummary {
        var settings = settings
        settings.source = .scan
        return try surroundings.reader.read(from) { source in
            let place = try MergePlace(pinning: source)
            return try PairMergeRun.withBase(base, in: folder, source.externalData, surroundings.reader) {
                base,
                moved in
                if keepsKeys, !moved.isEmpty { throw MigrationError.otherKeys(path: into.path) }
                let versions = MergeVersions(from: from, into: into, isAsked: migrates, surroundings: surroundings)
                return try versions.withSources(base, place) { try summary($0, moved, settings) }
            }
        }
    }

    private func summary(
        _ sources: MergeVersions.Sources,
        _ moved: [RekeyedObject],
        _ settings: MergeSettings
    ) throws -> MergeSummary {
        try surroundings.reader.read(into) { target in
            let step = MergeStep(
                base: sources.base,
                old: sources.source,
                from: from,
                into: into,
                effect: .renewal,
                keepsKeys: keepsKeys,
                moved: moved,
                settings: settings,
                surroundings: surroundings
            )
            let summary = try step.summary(of: MergePlace(target.connection, externalData: target.externalData))
            if let error = MigrationError(refusing: summary, from: from, into: into) { throw error }
            return summary
        }
    }
}
