import ChangeMerging
import Logging
import SafeFiles
import StoreFormat
import StoreVerification

/// Carries out a plan that merges what the old store holds into the store at the new place.
///
/// The old store is copied, and its writers are refused where the policy says so, at one moment; what the copy holds is
/// merged in one transaction of the new store: the commit point, known by the epoch that it leaves. The copy becomes the
/// base of the next merge.
struct ShareMergeRun {
    private let context: RunContext
    private let inspection: StoreInspection
    private let base: JournalRecord.BaseFile?

    /// Prepares the run; `base` is what both places held last, nil where they have nothing in common but what identities tell.
    init(_ context: RunContext, inspection: StoreInspection, base: JournalRecord.BaseFile?) {
        self.context = context
        self.inspection = inspection
        self.base = base
    }

    /// Merges the store; on an error before the commit point everything is taken back.
    func run(_ journal: inout MigrationJournal) throws -> RunResult {
        guard try context.container.status(of: context.new.name) != nil else {
            throw DestinationAppeared(path: context.new.path)
        }
        try MergeSettlement(
            of: context.new,
            reader: FactsGatherer(
                old: context.old,
                new: context.new,
                options: context.options,
                monitor: context.monitor
            )
            .reader,
            lockTimeout: context.options.effectiveLockTimeout
        )
        .forgetMarks(of: journal.records)
        try journal.append(
            .begin(
                JournalRecord.RunIdentity(
                    transaction: context.transaction,
                    old: context.old,
                    oldIdentity: inspection.identity,
                    new: context.new,
                    policy: context.options.oldStore,
                    descriptions: context.descriptions.byRoleName
                )
            )
        )
        let merged: Merged
        do {
            merged = try merge(&journal)
        } catch {
            try takeBack(&journal, cause: error)
            throw error
        }
        do {
            return try MergeCloser(context, merged.merging, leftMark: merged.leftMark)
                .close(&journal, merged.summary, merged.records, merged.findings)
        } catch {
            throw MigrationError(error).afterPublishing
        }
    }

    private struct Merged {
        let merging: JournalRecord.Merging
        let summary: MergeSummary
        let leftMark: Bool
        let records: MergeRecords
        let findings: [Finding]
    }

    private func merge(_ journal: inout MigrationJournal) throws -> Merged {
        let folder = try context.stateFolder.open()
        let base = try base.map { try CapturedBase.open($0, in: folder) }
        let pinned = try PinnedOldStore(context, fencing: context.options.oldStore == .fence, &journal)
        let external = try context.oldFolder.externalData(of: context.old)
        let old = try StoreConnection(pinned.location, access: .immutable)
        let digest = try StoreDigest(of: old, externalData: external, monitor: context.monitor).value
        let merging = JournalRecord.Merging(
            epoch: context.transaction,
            from: context.old,
            into: context.new,
            oldState: pinned.reading.state(digest: digest),
            base: pinned.base
        )
        let records = MergeRecords(of: context.transaction, in: folder)
        try base?.beginReading()
        try old.beginReading()
        // The digest says that the store was written to; a writer that is none of Core Data's told no history of it.
        var settings = context.options.merging
        settings.source = .scan
        let step = MergeStep(
            base: base.map { MergePlace($0, externalData: external) },
            old: MergePlace(old, externalData: external),
            into: context.new,
            moved: try self.base?.addresses.map { try RekeyedLines.all(in: folder, named: $0) } ?? [],
            settings: settings,
            lockTimeout: context.options.effectiveLockTimeout,
            monitor: context.monitor
        )
        let (summary, result) = try step.carryOut(epoch: context.transaction, keeping: records) {
            try journal.append(.merging(merging))
        }
        return Merged(
            merging: merging,
            summary: summary,
            leftMark: result.outcome != .nothingToDo,
            records: records,
            findings: pinned.findings
        )
    }

    /// Takes the run back, unless the merge was committed after all; then it counts as interrupted.
    private func takeBack(_ journal: inout MigrationJournal, cause: any Error) throws {
        guard case .interrupted(let run) = journal.state else { return }
        let recovery = try RunRecovery(
            run,
            options: context.options,
            monitor: .silent,
            logger: context.logger
        )
        do {
            if try recovery.decision() == .back {
                try recovery.recover(&journal)
                return
            }
        } catch {
            context.logger.error("taking back failed", metadata: ["error": "\(error)", "cause": "\(cause)"])
        }
        throw MigrationError(cause).afterPublishing
    }
}
