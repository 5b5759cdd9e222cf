import ChangeMerging
import Logging
import SafeFiles
import StoreFormat
import StoreVerification

/// Merges one store of a pair into the other, and records in the same run what both have in common from then on.
///
/// That is the state of the store that is merged, at one moment: all of it is in the other one afterwards, applied or parked,
/// and what the other one has beyond it is its own and still to be carried. A copy of that state is journalled before the
/// merge commits, in one transaction known by the epoch that it leaves, and becomes the base of the next merge.
struct PairMergeRun {
    private let context: RunContext
    private let identity: FileIdentity
    private let base: Base?
    private let takesNew: Bool
    private let isFencing: Bool

    /// What both stores held last.
    enum Base {
        case kept(JournalRecord.BaseFile)
        /// A store that the caller named.
        case named(StoreLocation)
    }

    /// Prepares the run over a pair whose old store has this identity.
    ///
    /// `base` is nil where the stores have nothing in common but what identities tell. With `takesNew` the old store takes what the new one holds; with `fencing` the old store's writers
    /// are refused from the moment on that its copy shows.
    init(_ context: RunContext, identity: FileIdentity, base: Base?, takesNew: Bool, fencing: Bool) {
        self.context = context
        self.identity = identity
        self.base = base
        self.takesNew = takesNew
        isFencing = fencing && !takesNew
    }

    private var into: StoreLocation { takesNew ? context.old : context.new }

    /// Merges the stores; on an error before the commit point everything is taken back.
    func run(_ journal: inout MigrationJournal) throws -> RunResult {
        guard try context.container.status(of: context.new.name) != nil else {
            throw DestinationAppeared(path: context.new.path)
        }
        try MergeSettlement(of: into, reader: reader, lockTimeout: context.options.effectiveLockTimeout)
            .forgetMarks(of: journal.records)
        try journal.append(
            .begin(
                JournalRecord.RunIdentity(
                    transaction: context.transaction,
                    old: context.old,
                    oldIdentity: identity,
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

    private var reader: StoreReader {
        FactsGatherer(old: context.old, new: context.new, options: context.options, monitor: context.monitor).reader
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
        let from = takesNew ? try context.reversed() : context
        let pinned = try PinnedStore(from, fencing: isFencing, in: folder, &journal)
        let external = try from.oldFolder.externalData(of: from.old)
        let source = try StoreConnection(pinned.location, access: .immutable)
        let digest = try StoreDigest(of: source, externalData: external, monitor: context.monitor)
        var merging = JournalRecord.Merging(
            epoch: context.transaction,
            from: from.old,
            into: into,
            oldState: nil,
            base: pinned.base,
            takesNew: takesNew ? true : nil
        )
        let records = MergeRecords(of: context.transaction, in: folder)
        try source.beginReading()
        // The digest says that the store was written to; a writer that is none of Core Data's told no history of it.
        var settings = context.options.merging
        settings.source = .scan
        return try Self.withBase(base, in: context.stateFolder, external, reader) { base, moved in
            if takesNew, !moved.isEmpty { throw MigrationError.otherKeys(path: into.path) }
            let step = MergeStep(
                base: base,
                old: MergePlace(source, externalData: external),
                from: from.old,
                into: into,
                effect: .renewal,
                keepsKeys: takesNew,
                moved: moved,
                settings: settings,
                lockTimeout: context.options.effectiveLockTimeout,
                monitor: context.monitor
            )
            let (summary, result) = try step.carryOut(epoch: context.transaction, keeping: records) { account in
                merging.oldState = try pinned.reading.state(SettledDigest(digest, merged: account))
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
    }

    /// Lends what both stores held last, and what earlier merges gave other keys than it has in the old store.
    static func withBase<Result>(
        _ base: Base?,
        in folder: StateFolder,
        _ external: Directory?,
        _ reader: StoreReader,
        _ body: (MergePlace?, [RekeyedObject]) throws -> Result
    ) throws -> Result {
        switch base {
        case nil: return try body(nil, [])
        case .kept(let file):
            let folder = try folder.open()
            let base = try CapturedBase.open(file, in: folder)
            try base.beginReading()
            let moved = try file.addresses.map { try RekeyedLines.all(in: folder, named: $0) } ?? []
            return try body(MergePlace(base, externalData: external), moved)
        case .named(let store):
            var result: Result?
            return try reader.withView(of: store) { view in
                // The view is retried after a concurrent write; the merge is already made then.
                if let result { return result }
                let made = try body(MergePlace(pinning: view), [])
                result = made
                return made
            }
        }
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
