import ChangeMerging
public import FoundationEssentials
public import Logging
import SafeFiles
public import StoreAccess
import StoreFormat
import StoreVerification

/// Merges one store into another, object by object and property by property; the source is only read.
///
/// All changes are one transaction of the receiving store. The undo record, the parked rows and the changed addresses
/// are kept beside its journal. Merging the same store again changes nothing.
public struct StoreMerging: Sendable {
    private let into: StoreLocation
    private let from: StoreLocation
    private let options: MergeOptions
    private let surroundings: Surroundings

    public init(
        _ from: URL,
        into: URL,
        options: MergeOptions = MergeOptions(),
        logger: Logger? = nil,
        onProgress: (@Sendable (StoreProgress) -> Void)? = nil,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) {
        self.into = StoreLocation(url: into)
        self.from = StoreLocation(url: from)
        self.options = options
        surroundings = options.surroundings(
            WorkMonitor(onProgress: onProgress, isCancelled: isCancelled),
            logger
        )
    }

    /// Decides what a merge would do, and writes nothing.
    public func plan() async throws(MigrationError) -> StoreMergeOutcome {
        try await AsynchronousRun.result { () throws(MigrationError) in try planAndWait() }
    }

    /// Decides what a merge would do, and writes nothing, while the caller waits.
    public func planAndWait() throws(MigrationError) -> StoreMergeOutcome {
        do {
            try requirePlaces()
            try requireWritable()
            try surroundings.require(options.settings, in: into)
            if let pair = try pair() {
                if try pair.isSettled() { return unchanged }
                return outcome(try pair.summary(), message: "nothing was written")
            }
            let folder = surroundings.stateFolder(of: into)
            let former = try former(folder.records(), in: folder)
            if let former, try former.isUnchanged() { return unchanged }
            let moved = try former?.moved() ?? []
            return try withSources { base, old, _ in
                try surroundings.reader.read(into) { view in
                    var step = step(base, old)
                    step.moved = moved
                    let summary =
                        try step
                        .summary(of: MergePlace(view.connection, externalData: view.externalData))
                    if let error = MigrationError(refusing: summary, from: from, into: into) { throw error }
                    let findings = summary.isIdle ? [] : try pairs.cycleFindings(through: from)
                    return outcome(summary, findings, message: "nothing was written")
                }
            }
        } catch {
            throw MigrationError(error)
        }
    }

    /// Merges, and proves the receiving store.
    ///
    /// First recovers an interrupted share of the store. Then records the result of an interrupted merge: the store has
    /// it completely, or not at all. Cancelling the task stops a merge that is not committed yet.
    public func merge() async throws(MigrationError) -> StoreMergeOutcome {
        try await AsynchronousRun.result { () throws(MigrationError) in try mergeAndWait() }
    }

    /// Merges, and proves the receiving store, while the caller waits.
    public func mergeAndWait() throws(MigrationError) -> StoreMergeOutcome {
        do {
            try requirePlaces()
            try requireWritable()
            try surroundings.require(options.settings, in: into)
            try recoverPair()
            if let pair = try pair() {
                if try pair.isSettled() { return unchanged }
                guard let outcome = try pair.merge() else {
                    throw MigrationError(.busy, "another run over these stores has just ended", path: into.path)
                }
                return outcome
            }
            let folder = surroundings.stateFolder(of: into)
            return try folder.withJournal(deadline: surroundings.lockDeadline()) { journal in
                try recover(&journal)
                try settlement.settle(&journal, in: folder.open())
                return try merge(&journal, in: folder.open())
            }
        } catch {
            throw MigrationError(error)
        }
    }

    private func pair() throws -> PairMerge? {
        if let pair = try PairMerge(from, into: into, options: options, surroundings: surroundings) { return pair }
        try pairs.requireNoOtherStateFolder(forMergeFrom: from)
        return nil
    }

    private var pairs: PairRecords { PairRecords(store: into, surroundings: surroundings) }

    private var unchanged: StoreMergeOutcome {
        outcome(options.settings.naming(MergeSummary()), message: "the store was merged before and is unchanged since")
    }

    /// Recovers a run over the pair, whichever store is the old one: its record is valid only then.
    private func recoverPair() throws {
        for old in [into, from] {
            let folder = surroundings.stateFolder(of: old)
            guard case .interrupted(let run)? = try folder.ifUsable({ try $0.state() }),
                old == into || run.run.new == into
            else {
                continue
            }
            try folder.withJournal(deadline: surroundings.lockDeadline()) { try recover(&$0) }
        }
    }

    /// Recovers an interrupted run, among whose records no merge may be written.
    private func recover(_ journal: inout MigrationJournal) throws {
        guard case .interrupted(let run) = journal.state else { return }
        surroundings.logger.notice("an interrupted run is recovered first")
        try RunRecovery(run, settings: options.runSettings(), surroundings: surroundings).recover(&journal)
        // A finished share may have fenced the store.
        try requireWritable()
    }

    private func step(_ base: MergePlace?, _ old: MergePlace) -> MergeStep {
        MergeStep(
            base: base,
            old: old,
            from: from,
            into: into,
            effect: .arrival,
            settings: options.mergeSettings,
            surroundings: surroundings
        )
    }

    private func merge(_ journal: inout MigrationJournal, in folder: Directory) throws -> StoreMergeOutcome {
        let former = try former(journal.records, in: surroundings.stateFolder(of: into))
        if let former, try former.isUnchanged() { return unchanged }
        let epoch = RunContext.drawTransaction()
        let records = MergeRecords(of: epoch, in: folder)
        var merging = try JournalRecord.Merging(epoch: epoch, from: from, into: into, receiver: .init(into))
        let reading = try OldStateRecorder.read(from, in: Directory.open(path: from.folder))
        merging.source = try FormerMerge.identity(of: from)
            .map {
                .init(
                    identity: $0,
                    token: reading.token,
                    takenAt: reading.takenAt,
                    base: options.base?.path,
                    choices: options.choices
                )
            }
        var merged: (summary: MergeSummary, result: MergeResult)?
        var findings: [Finding] = []
        let (summary, result) = try withSources { base, old, confirm in
            // The reader repeats the closure after a late write to the source; the merge must not run twice.
            if let merged { return merged }
            do {
                var step = step(base, old)
                step.moved = try former?.moved() ?? []
                let made =
                    try step
                    .carryOut(
                        epoch: epoch,
                        keeping: records,
                        onBegin: { _, addresses in
                            // A later attempt finds no cycle that the first one has not voided.
                            findings += try pairs.voidCycles(
                                through: from,
                                holding: &journal,
                                at: surroundings.stateFolder(of: into)
                            )
                            merging.addresses = addresses
                            try journal.append(.merging(merging))
                        },
                        confirm: confirm
                    )
                merged = made
                return made
            } catch {
                try settlement.settle(&journal, in: folder)
                let stands = MergeState(journal.records).standing.contains { $0.epoch == epoch }
                throw stands ? afterMerging(error) : error
            }
        }
        guard result.outcome == .merged else {
            try MergeRecords.remove(epoch, in: folder)
            try journal.append(.unmerged(epoch: epoch))
            return outcome(summary, message: "there was nothing to merge")
        }
        do {
            try journal.append(.merged(epoch: epoch))
            return try proved(summary, epoch, records, findings)
        } catch {
            throw afterMerging(error)
        }
    }

    /// The outcome of a committed merge.
    private func proved(
        _ summary: MergeSummary,
        _ epoch: String,
        _ records: MergeRecords,
        _ findings: [Finding]
    ) throws -> StoreMergeOutcome {
        var findings = findings + settlement.forget(epoch)
        findings += MergeAnnouncement(into, epoch: epoch).post()
        surroundings.monitor.report(.proving, 0, of: 0)
        let verifier = StoreVerifier(lockTimeout: surroundings.lockTimeout, monitor: surroundings.monitor)
        let report = try verifier.verify(into, level: options.level, against: nil)
        guard report.passed else { throw failure(report) }
        return StoreMergeOutcome(
            outcome: .merged,
            epoch: epoch,
            summary: summary,
            parkedRows: records.path(of: .parked),
            rekeyedObjects: records.path(of: .rekeyed),
            report: report,
            findings: findings + report.findings,
            message: "merged",
            next: .verify(store: into.path)
        )
    }

    private var settlement: MergeSettlement { MergeSettlement(of: into, surroundings) }

    /// The same error, reported as one after a committed merge.
    private func afterMerging(_ error: any Error) -> MigrationError {
        let error = MigrationError(error)
        guard error.outcome != .verificationFailed else { return error }
        return MigrationError(
            .interrupted,
            "the stores were merged, but then: \(error.message)",
            path: error.path.isEmpty ? into.path : error.path,
            advice: "The merge is committed but not verified. Run the verify command, or the unmerge command.",
            next: .verify(store: into.path),
            findings: error.findings,
            underlyingError: error
        )
    }

    private func former(_ records: [JournalRecord], in folder: StateFolder) throws -> FormerMerge? {
        try FormerMerge(of: from, into: into, options: options, records: records, in: folder)
    }

    /// Opens snapshots of base and source; the closure's last argument throws when either has changed.
    private func withSources<R>(
        _ body: (MergePlace?, MergePlace, @escaping () throws -> Void) throws -> R
    ) throws -> R {
        try surroundings.reader.withView(of: from) { old in
            let place = try MergePlace(pinning: old)
            let versions = MergeVersions(from: from, into: into, surroundings: surroundings)
            guard let base = options.base else {
                return try versions.withSources(nil, place) { sources in
                    try body(nil, sources.source) { try old.requireUnchanged() }
                }
            }
            return try surroundings.reader.withView(of: StoreLocation(url: base)) { base in
                try versions.withSources(MergePlace(pinning: base), place) { sources in
                    try body(sources.base, sources.source) {
                        try base.requireUnchanged()
                        try old.requireUnchanged()
                    }
                }
            }
        }
    }

    /// Throws when two of the stores are the same.
    private func requirePlaces() throws {
        try PlacesCheck.require(merging: from, into: into, base: options.base.map(StoreLocation.init(url:)))
    }

    /// Throws when the store is fenced.
    private func requireWritable() throws {
        let inspection = try surroundings.silent.inspector(.layout).inspect(into)
        if case .unreadable(let store) = inspection { throw MigrationError(store) }
        guard let inspection = inspection.inspection else {
            throw MigrationError(.nothingFound, "there is no store to merge into", path: into.path)
        }
        guard let fence = inspection.fence else { return }
        let succession = try Succession(of: into, surroundings)
        let end = succession?.store ?? StoreLocation(path: fence.newPath)
        guard let succession, end != from else {
            // The source has the store's own data, which only unshare brings back as a whole.
            throw MigrationError(
                .needsDecision,
                "the store was shared to \(end.path) and is fenced",
                path: into.path,
                advice: "Nothing was merged. Bring the data back with the unshare command.",
                next: .unshare(old: into.path, new: end.path)
            )
        }
        throw MigrationError.outOfUse(succession, next: .merge(into: end.path, from: from.path))
    }

    private func failure(_ report: VerificationReport) -> MigrationError {
        MigrationError(
            .verificationFailed,
            "the merged store failed verification",
            path: into.path,
            advice: "Undo the merge with the unmerge command.",
            next: .unmerge(into: into.path),
            findings: report.findings,
            report: report.findings
        )
    }

    private func outcome(
        _ summary: MergeSummary,
        _ findings: [Finding] = [],
        message: String
    ) -> StoreMergeOutcome {
        StoreMergeOutcome(
            outcome: summary.isIdle || summary.changesNothing ? .done : .merged,
            epoch: nil,
            summary: summary,
            parkedRows: nil,
            rekeyedObjects: nil,
            report: nil,
            findings: findings,
            message: message,
            next: nil
        )
    }
}
