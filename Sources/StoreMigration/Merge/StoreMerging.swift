import ChangeMerging
public import FoundationEssentials
public import Logging
import SafeFiles
public import StoreFormat
import StoreVerification

/// Merges one store into another, object by object and property by property; the store it merges from is only read.
///
/// Everything happens in one transaction of the store that takes the changes. What is needed to take it back, the rows that
/// lost a decision, and the addresses that changed are kept beside its journal. Merging the same once more changes nothing.
public struct StoreMerging: Sendable {
    private let into: StoreLocation
    private let from: StoreLocation
    private let options: MergeOptions
    private let monitor: WorkMonitor
    private let logger: Logger

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
        monitor = WorkMonitor(onProgress: onProgress, isCancelled: isCancelled)
        self.logger = logger ?? .silent
    }

    /// Decides what a merge would do, and writes nothing.
    public func plan() throws(MigrationError) -> StoreMergeOutcome {
        do {
            try requirePlaces()
            try requireWritable()
            if let pair = try pair() {
                if try pair.isSettled() { return unchanged }
                return outcome(try pair.summary(), message: "nothing was written")
            }
            let folder = StateFolder(of: into, stateFolder: options.stateFolder)
            let former = try former(folder.records())
            if let former, try isUnchanged(former) {
                return unchanged
            }
            let moved = try former.map { try self.moved($0, in: folder.open()) } ?? []
            return try withSources { base, old, _ in
                try reader.withView(of: into) { view in
                    var step = step(base, old)
                    step.moved = moved
                    let summary =
                        try step
                        .summary(of: MergePlace(view.connection, externalData: view.externalData))
                    if let error = MigrationError(refusing: summary, from: from, into: into) { throw error }
                    return outcome(summary, message: "nothing was written")
                }
            }
        } catch {
            throw MigrationError(error)
        }
    }

    /// Merges, and proves the store that took the changes.
    ///
    /// A share of the store that was interrupted is recovered first. Then a merge that was interrupted is settled: it is in
    /// the store whole, or not at all.
    public func merge() throws(MigrationError) -> StoreMergeOutcome {
        do {
            try requirePlaces()
            try requireWritable()
            try recoverPair()
            if let pair = try pair() {
                if try pair.isSettled() { return unchanged }
                guard let outcome = try pair.merge() else {
                    throw MigrationError(.busy, "another run over these stores has just ended", path: into.path)
                }
                return outcome
            }
            let folder = StateFolder(of: into, stateFolder: options.stateFolder)
            return try folder.withJournal(deadline: Deadline(after: options.lockTimeout)) { journal in
                try recover(&journal)
                try settlement.settle(&journal, in: folder.open())
                return try merge(&journal, in: folder.open())
            }
        } catch {
            throw MigrationError(error)
        }
    }

    private func pair() throws -> PairMerge? {
        try PairMerge(from, into: into, options: options, monitor: monitor, logger: logger)
    }

    private var unchanged: StoreMergeOutcome {
        outcome(MergeSummary(), message: "it was merged before, and nothing was written to it since")
    }

    /// Brings a run over the pair of stores to its end, whichever of them is the old one: only then its record tells.
    private func recoverPair() throws {
        for old in [into, from] {
            let folder = StateFolder(of: old, stateFolder: options.stateFolder)
            guard case .interrupted(let run)? = try? folder.state(), old == into || run.run.new == into else {
                continue
            }
            try folder.withJournal(deadline: Deadline(after: options.lockTimeout)) { try recover(&$0) }
        }
    }

    /// Brings an interrupted run to its end, whose records a merge must not be written among.
    private func recover(_ journal: inout MigrationJournal) throws {
        guard case .interrupted(let run) = journal.state else { return }
        logger.notice("an interrupted run is recovered first")
        try RunRecovery(run, options: options.asShare, monitor: monitor, logger: logger).recover(&journal)
        // A share that has come to its end has put the store out of use.
        try requireWritable()
    }

    private var reader: StoreReader {
        StoreReader(
            lockTimeout: options.lockTimeout,
            allowsNetworkFileSystem: options.allowsNetworkFileSystem,
            monitor: monitor
        )
    }

    private func step(_ base: MergePlace?, _ old: MergePlace) -> MergeStep {
        MergeStep(
            base: base,
            old: old,
            from: from,
            into: into,
            effect: .arrival,
            settings: options.settings,
            lockTimeout: options.lockTimeout,
            monitor: monitor
        )
    }

    private func merge(_ journal: inout MigrationJournal, in folder: Directory) throws -> StoreMergeOutcome {
        let former = try former(journal.records)
        if let former, try isUnchanged(former) {
            return unchanged
        }
        let epoch = RunContext.drawTransaction()
        let records = MergeRecords(of: epoch, in: folder)
        var merging = JournalRecord.Merging(epoch: epoch, from: from, into: into, oldState: nil, base: nil)
        let reading = try OldStateRecorder.read(from, in: Directory.open(path: from.folder))
        merging.source = try identity()
            .map {
                .init(
                    identity: $0,
                    token: reading.token,
                    takenAt: reading.takenAt,
                    base: options.base?.path,
                    choices: choices
                )
            }
        var merged: (summary: MergeSummary, result: MergeResult)?
        let (summary, result) = try withSources { base, old, confirm in
            // Who writes to the other store after the merge is not told of it by another merge.
            if let merged { return merged }
            do {
                var step = step(base, old)
                step.moved = try moved(former, in: folder)
                let made =
                    try step
                    .carryOut(
                        epoch: epoch,
                        keeping: records,
                        onBegin: { _ in try journal.append(.merging(merging)) },
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
            return try proved(summary, epoch, records)
        } catch {
            throw afterMerging(error)
        }
    }

    /// The outcome of a merge that is in the store.
    private func proved(_ summary: MergeSummary, _ epoch: String, _ records: MergeRecords) throws -> StoreMergeOutcome {
        var findings = settlement.forget(epoch)
        findings += MergeAnnouncement(into, epoch: epoch).post()
        monitor.report(.proving, 0, of: 0)
        let report = try StoreVerifier(lockTimeout: options.lockTimeout, monitor: monitor)
            .verify(into, level: options.level, against: nil)
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

    private var settlement: MergeSettlement {
        MergeSettlement(of: into, reader: reader, lockTimeout: options.lockTimeout)
    }

    /// The same error, told as one that left a merged store behind.
    private func afterMerging(_ error: any Error) -> MigrationError {
        let error = MigrationError(error)
        guard error.outcome != .verificationFailed else { return error }
        return MigrationError(
            .interrupted,
            "the stores were merged, and then: \(error.message)",
            path: error.path.isEmpty ? into.path : error.path,
            advice: "The merge is in the store, unproved. Verify the store; or take the merge back.",
            next: .verify(store: into.path),
            findings: error.findings,
            underlyingError: error
        )
    }

    // MARK: Merged before

    /// The last merge of the same store that still stands.
    private func former(_ records: [JournalRecord]) throws -> JournalRecord.Merging? {
        try identity().flatMap { MergeState(records).last(of: $0, at: from) }
    }

    private func identity() throws -> FileIdentity? {
        try Directory.open(path: from.folder).status(of: from.name)?.identity
    }

    /// The choices as one text: with others, the same stores may end in another store.
    private var choices: String {
        let policies = options.settings.policies.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.rawValue)" }
        let identities = options.settings.identities.sorted { $0.key < $1.key }
            .map { "\($0.key)=\($0.value.joined(separator: ","))" }
        let all = [options.settings.policy.rawValue, "\(options.settings.source)"] + policies + identities
        return all.joined(separator: " ")
    }

    /// True when nothing was written since to the store that was merged; throws when what it held then is not the base now.
    private func isUnchanged(_ former: JournalRecord.Merging) throws -> Bool {
        guard let source = former.source else { return false }
        let reading = TokenReading(token: source.token, takenAt: source.takenAt)
        if try OldStateRecorder.isUnchanged(reading, at: from, in: Directory.open(path: from.folder)) {
            guard source.choices != choices || source.base != options.base?.path else { return true }
            throw MigrationError(
                .needsDecision,
                "the store was merged before, by other choices or another base",
                path: from.path,
                advice: "Nothing was merged. Take the earlier merge back first.",
                next: .unmerge(into: into.path)
            )
        }
        guard options.base?.path != source.base else {
            throw MigrationError(
                .needsDecision,
                "the store was merged before and was written to since: what it held then is to be the base now",
                path: from.path,
                advice:
                    "Nothing was merged. Name a copy of that state with --base, or take the earlier merge back first.",
                next: .unmerge(into: into.path)
            )
        }
        return false
    }

    /// What the last merge of the same store gave other keys.
    private func moved(_ former: JournalRecord.Merging?, in folder: Directory) throws -> [RekeyedObject] {
        guard let former else { return [] }
        return try RekeyedLines.all(in: folder, named: MergeRecords.name(of: .rekeyed, former.epoch))
    }

    /// Lends the base and the store to merge from, as they are at one moment; what it lends last throws when that has passed.
    private func withSources<R>(
        _ body: (MergePlace?, MergePlace, @escaping () throws -> Void) throws -> R
    ) throws -> R {
        try reader.withView(of: from) { old in
            let place = try MergePlace(pinning: old)
            guard let base = options.base else { return try body(nil, place) { try old.requireUnchanged() } }
            return try reader.withView(of: StoreLocation(url: base)) { base in
                try body(MergePlace(pinning: base), place) {
                    try base.requireUnchanged()
                    try old.requireUnchanged()
                }
            }
        }
    }

    /// Throws where two of the stores are one.
    private func requirePlaces() throws {
        guard let base = options.base.map(StoreLocation.init(url:)) else {
            return try PlacesCheck(old: from, new: into).require()
        }
        for (old, new) in [(from, into), (base, into), (base, from)] { try PlacesCheck(old: old, new: new).require() }
    }

    /// Throws for a store that is out of use: its writers are told to go elsewhere.
    private func requireWritable() throws {
        let inspection = try StoreInspector(
            depth: .layout,
            lockTimeout: options.lockTimeout,
            allowsNetworkFileSystem: options.allowsNetworkFileSystem
        )
        .inspect(into)
        if case .unreadable(let store) = inspection { throw MigrationError(store) }
        guard let inspection = inspection.inspection else {
            throw MigrationError(.nothingFound, "there is no store to merge into", path: into.path)
        }
        guard let fence = inspection.fence else { return }
        let succession = try Succession(of: into, options: options.asShare)
        let end = succession?.store ?? StoreLocation(path: fence.newPath)
        guard let succession, end != from else {
            // What is to be merged is where the store's own data went: that comes back as a whole.
            throw MigrationError(
                .needsDecision,
                "the store was moved to \(end.path), and takes no writes",
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
            "the merged store does not pass its proof",
            path: into.path,
            advice: "What the merge did can be taken back.",
            next: .unmerge(into: into.path),
            findings: report.findings,
            report: report.findings
        )
    }

    private func outcome(_ summary: MergeSummary, message: String) -> StoreMergeOutcome {
        StoreMergeOutcome(
            outcome: summary.isIdle || summary.changesNothing ? .done : .merged,
            epoch: nil,
            summary: summary,
            parkedRows: nil,
            rekeyedObjects: nil,
            report: nil,
            findings: [],
            message: message,
            next: nil
        )
    }
}
