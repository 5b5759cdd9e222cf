import ChangeMerging
import SafeFiles
import StoreAccess
import StoreVerification

/// Merges one store of a pair into the other, and records their common state in the same run.
///
/// The common state is a snapshot of the source: the target has all of it afterwards, applied or parked, and the
/// target's own additions are not part of it. A copy of the snapshot is journalled before the merge commits, and
/// becomes the base of the next merge. The epoch that the transaction leaves identifies the merge.
struct PairMergeRun: RunWork {
    let context: RunContext
    private let oldIdentity: FileIdentity
    private let base: Base?
    private let takesNew: Bool
    private let isFencing: Bool
    private var merged: Merged?

    /// The common state of both stores.
    enum Base {
        case kept(JournalRecord.BaseFile)
        /// A store that the caller named.
        case named(StoreLocation)
    }

    /// Prepares the run over a pair whose old store has this identity.
    ///
    /// `base` is nil when only identities match objects. With `takesNew` the old store receives the new one's content;
    /// with `fencing` the old store is fenced when its snapshot is taken.
    init(_ context: RunContext, identity: FileIdentity, base: Base?, takesNew: Bool, fencing: Bool) {
        self.context = context
        oldIdentity = identity
        self.base = base
        self.takesNew = takesNew
        isFencing = fencing && !takesNew
    }

    private var into: StoreLocation { takesNew ? context.old : context.new }

    var identity: JournalRecord.RunIdentity {
        get throws { try context.identity(over: oldIdentity, context.descriptions) }
    }
    /// Only the merged store shows whether a commit that failed took effect.
    var isCommitted: Bool? { nil }
    var mayHaveFenced: Bool { isFencing }

    /// Merges the stores; an error before the commit point rolls everything back.
    func run(_ journal: inout MigrationJournal) throws -> RunResult {
        guard try context.container.status(of: context.new.name) != nil else {
            throw DestinationAppeared(path: context.new.path)
        }
        try MergeSettlement(of: into, context.surroundings)
            .forgetMarks(of: journal.records)
        return try JournalledRun(self).carryOut(&journal)
    }

    mutating func commit(_ journal: inout MigrationJournal) throws { merged = try merge(&journal) }

    mutating func finish(_ journal: inout MigrationJournal) throws -> RunResult {
        guard let merged else { throw MigrationError(.failed, "nothing was merged", path: into.path) }
        return try MergeCloser(context, merged.merging, leftMark: merged.leftMark)
            .close(&journal, merged.summary, merged.records, merged.findings)
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
        var merging = try JournalRecord.Merging(
            epoch: context.transaction,
            from: from.old,
            into: into,
            base: pinned.base,
            receiver: JournalRecord.Receiver(into),
            takesNew: takesNew ? true : nil
        )
        let records = MergeRecords(of: context.transaction, in: folder)
        try source.beginReading()
        // Scans, because a writer other than Core Data leaves no history.
        var settings = context.settings.merging
        settings.source = .scan
        let versions = MergeVersions(
            from: from.old,
            into: into,
            isAsked: context.target != nil,
            surroundings: context.surroundings
        )
        return try Self.withBase(base, in: context.stateFolder, external, context.surroundings.reader) { base, moved in
            if takesNew, !moved.isEmpty { throw MigrationError.otherKeys(path: into.path) }
            return try versions.withSources(base, MergePlace(source, externalData: external)) { sources in
                let step = MergeStep(
                    base: sources.base,
                    old: sources.source,
                    from: from.old,
                    into: into,
                    effect: .renewal,
                    keepsKeys: takesNew,
                    moved: moved,
                    settings: settings,
                    surroundings: context.surroundings
                )
                let (summary, result) = try step.carryOut(epoch: context.transaction, keeping: records) {
                    account,
                    addresses in
                    merging.oldState = try pinned.reading.state(
                        SettledDigest(digest, merged: account, as: sources.migrated)
                    )
                    merging.addresses = addresses
                    merging.base?.addressesDigest = addresses
                    try journal.append(.merging(merging))
                }
                return Merged(
                    merging: merging,
                    summary: summary,
                    leftMark: result.outcome != .nothingToDo,
                    records: records,
                    findings: pinned.findings + sources.findings
                )
            }
        }
    }

    /// Opens the base, and the objects whose keys earlier merges changed.
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
            let moved =
                try file.addresses
                .map { try RekeyedLines.all(in: folder, named: $0, digest: file.addressesDigest) } ?? []
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
}
