import SafeFiles
public import StoreAccess

extension Finding.Code {
    /// The common state of an old and a new store is unknown; a share compares them as unrelated stores.
    public static let commonStateUnknown = Finding.Code(rawValue: "commonStateUnknown")
    /// The record of the pair is in a state folder that the call does not name.
    public static let recordedElsewhere = Finding.Code(rawValue: "recordedElsewhere")
}

extension Finding {
    static func recordedElsewhere(_ folder: String, at location: StoreLocation) -> Finding {
        Finding(
            .recordedElsewhere,
            .warning,
            level: .files,
            MigrationError.recordedElsewhere(folder),
            path: location.path
        )
    }

    static func commonStateUnknown(at location: StoreLocation) -> Finding {
        Finding(
            .commonStateUnknown,
            .warning,
            level: .content,
            "the common state of this store and the one it was shared to is unknown, because a merge was undone"
                + " or a store replaced; a share compares them as unrelated stores",
            path: location.path
        )
    }
}

extension MigrationError {
    /// A command that needs the common state of a pair whose record is void.
    static func commonStateUnknown(old: StoreLocation, new: StoreLocation) -> MigrationError {
        MigrationError(
            .needsDecision,
            "the common state of the old and the new store is unknown",
            path: old.path,
            advice:
                "Nothing was changed. Share the old store again first: equal stores become a pair, others need"
                + " a decision about both.",
            next: .share(old: old.path, new: new.path)
        )
    }
}

extension MigrationError {
    static func recordedElsewhere(_ folder: String) -> String {
        "the share of this store is recorded in another state folder: \(folder)"
    }

    /// A command over a pair whose record is in a state folder that the call does not name.
    static func recorded(in folder: String, path: String, next: NextStep) -> MigrationError {
        MigrationError(
            .needsDecision,
            recordedElsewhere(folder),
            path: path,
            next: .inStateFolder(folder, next)
        )
    }
}

/// The records of the pairs that a store belongs to.
///
/// A pair's record is in the journal beside the old store: the base, the state of the old store, and the merges in
/// force. A new store finds its pair through its receipt, which is trusted only if that journal agrees.
struct PairRecords {
    let store: StoreLocation
    let surroundings: Surroundings

    /// The folders of the journals with a valid record of the store.
    func folders() throws -> [StateFolder] {
        let own = try journals(of: store).filter { try standing($0) != nil }
        guard let folder = try Directory.openIfPresent(path: store.folder),
            let receipt = try Receipt(beside: store.name, in: folder)
        else { return own }
        var others: [StateFolder] = []
        for origin in receipt.origins.sorted(by: { ($0.old, $0.state ?? "") < ($1.old, $1.state ?? "") }) {
            let old = StoreLocation(path: origin.old)
            guard old != store else { continue }
            for journal in journals(of: origin)
            where try !others.contains(where: { $0.path == journal.path }) && isRecord(journal, receipt) {
                others.append(journal)
            }
        }
        return own + others
    }

    /// The runs that the store's receipt names and whose journals, beside other stores than `own`, record them as valid.
    func otherOrigins(than own: StoreLocation) throws -> [Receipt.Origin] {
        guard let folder = try Directory.openIfPresent(path: store.folder),
            let receipt = try Receipt(beside: store.name, in: folder)
        else { return [] }
        return try receipt.origins.filter { origin in
            guard origin.old != store.path, origin.old != own.path else { return false }
            return try journals(of: origin)
                .contains { try isRecord($0, receipt) && standing($0)?.run.transaction == origin.transaction }
        }
    }

    /// True when the receipt names the run that a journal records, and the journal names this store.
    private func isRecord(_ journal: StateFolder, _ receipt: Receipt) throws -> Bool {
        guard let shared = try standing(journal) else { return false }
        return try receipt.names(shared.run.transaction) && namesStore(shared)
    }

    /// The state folder that has the valid record of this store and the old one, if that is not a folder that the caller
    /// named or one beside the old store.
    func stateFolder(ofPairWith old: StoreLocation) throws -> String? { try otherStateFolder { $0 == old } }

    /// Throws if such a folder records this store and `source` as a pair, in either direction.
    func requireNoOtherStateFolder(forMergeFrom source: StoreLocation) throws {
        let reverse = PairRecords(store: source, surroundings: surroundings)
        for (folder, old) in try [
            (stateFolder(ofPairWith: source), source), (reverse.stateFolder(ofPairWith: store), store),
        ] {
            guard let folder else { continue }
            throw MigrationError.recorded(in: folder, path: old.path, next: .merge(into: store.path, from: source.path))
        }
    }

    /// The first such folder of a pair whose old store fits.
    func otherStateFolder(where isMatching: (StoreLocation) -> Bool = { _ in true }) throws -> String? {
        guard let folder = try Directory.openIfPresent(path: store.folder),
            let receipt = try Receipt(beside: store.name, in: folder)
        else { return nil }
        return try receipt.origins
            .first { origin in
                let old = StoreLocation(path: origin.old)
                guard let state = origin.state, isMatching(old) else { return false }
                return try isRecord(StateFolder(of: old, named: state), receipt)
                    && !journals(of: old).contains { try isRecord($0, receipt) }
            }?
            .state
    }

    /// True when the journal itself records this store: any member of the group may write a receipt.
    ///
    /// A store on the way from the one that the journal records counts as no record if it cannot be read.
    private func namesStore(_ shared: RunState.SharedRun) throws -> Bool {
        if shared.run.new == store { return true }
        let identity = try Directory.openIfPresent(path: store.folder)?.status(of: store.name)?.identity
        if identity?.mayBe(recorded: shared.completion.new) == true { return true }
        guard let succession = try FileError.ifUsable({ try Succession(of: shared.run.new, surroundings) }) ?? nil
        else { return false }
        return succession.isVerified && succession.store == store
    }

    /// Voids the records of the store, except those for which `isKept` is true.
    ///
    /// Call it before the loss is committed: a crash in between leaves a void record, which is safe. `journal` is the
    /// caller's locked journal, and `home` its folder. Throws while an unshare of a pair, or a share to the store, is
    /// unfinished: its end would put a record in force that does not hold.
    func void(
        because reason: String,
        holding journal: inout MigrationJournal,
        at home: StateFolder,
        except isKept: (StateFolder, RunState.SharedRun) -> Bool = { _, _ in false }
    ) throws {
        try requireReplaceable()
        for folder in try folders() {
            guard let shared = try standing(folder), !isKept(folder, shared) else { continue }
            if folder.path == home.path {
                try journal.append(.voided(because: reason))
            } else {
                try folder.withJournal(deadline: surroundings.lockDeadline()) { other in
                    guard Self.standing(other.state) != nil else { return }
                    try other.append(.voided(because: reason))
                }
            }
        }
    }

    /// Records that the store's content is about to be replaced, in those of its journals that record merges into it.
    ///
    /// Call it before the loss is committed. If the run is rolled back then, the merges stay doubtful: they cannot be undone any
    /// more, and can be repeated.
    func doubtMerges(exceptIn home: StateFolder) throws {
        func isDoubted(_ records: [JournalRecord]) -> Bool {
            MergeState(records).standing.contains { !$0.isOfPair && $0.into == store }
        }
        for folder in journals(of: store) where try folder.path != home.path && isDoubted(folder.records()) {
            try folder.withJournal(deadline: surroundings.lockDeadline()) { other in
                try other.append(.voided(because: JournalRecord.contentReplaced))
            }
        }
    }

    /// Throws if the content of the store may not be replaced now.
    ///
    /// The end of a share that has published its copy here, or is about to, would record content that is lost then; so would the
    /// rollback of an unfinished unshare.
    func requireReplaceable() throws {
        guard let container = try Directory.openIfPresent(path: store.folder) else { return }
        let received = try Receipt(beside: store.name, in: container)?.origins ?? []
        let main = try container.status(of: store.name)?.identity
        for origin in try received + StagingOrigin.all(in: container) where origin.old != store.path {
            for journal in journals(of: origin) {
                guard let (state, holders) = try journal.ifUsable({ try $0.observed() }), let run = state.run else {
                    continue
                }
                let next: NextStep
                switch state {
                case .unsharing(let shared, _) where try namesStore(shared):
                    next = .unshare(old: run.old.path, new: run.new.path)
                case .interrupted(let current) where current.isReplacing(store, main):
                    next = .resume(old: run.old.path)
                default: continue
                }
                let named = origin.state.map { NextStep.inStateFolder($0, next) } ?? next
                throw holders.isEmpty ? unfinished(state, named) : atWork(holders)
            }
        }
    }

    private func atWork(_ holders: [Int32]) -> MigrationError {
        MigrationError(
            .busy,
            "a run over this store is at work in process \(holders.map(String.init).joined(separator: ", "))",
            path: store.path,
            advice: "Nothing was changed. Run the command again when that one has ended."
        )
    }

    private func unfinished(_ state: RunState, _ next: NextStep) -> MigrationError {
        state.isUnsharing
            ? MigrationError(
                .needsDecision,
                "an unshare of this store is not finished",
                path: store.path,
                advice: "Nothing was changed. Finish it with the unshare command, or roll it back with abort.",
                next: next
            )
            : MigrationError(
                .interrupted,
                "a share to this store is not finished",
                path: store.path,
                advice: "Nothing was changed. Finish that share first.",
                next: next
            )
    }

    /// Voids the records whose other store has content in common with `source`, a third store whose rows this store is
    /// about to receive; returns a finding for each.
    ///
    /// Recorded pairs and merges connect stores. As long as they form no cycle, a row reaches a store in one way only. A
    /// second way would carry it again, as a row of its own. Call it before the rows arrive.
    func voidCycles(
        through source: StoreLocation,
        holding journal: inout MigrationJournal,
        at home: StateFolder
    ) throws -> [Finding] {
        let closing = try cyclePartners(through: source)
        guard !closing.isEmpty else { return [] }
        try void(because: "rows of a related store were merged", holding: &journal, at: home) { _, shared in
            !closing.contains(shared.run.old) && !closing.contains(shared.run.new)
        }
        return cycleFindings(closing, through: source)
    }

    /// What ``voidCycles(through:holding:at:)`` would report or throw, without writing.
    func cycleFindings(through source: StoreLocation) throws -> [Finding] {
        let closing = try cyclePartners(through: source)
        if !closing.isEmpty { try requireReplaceable() }
        return cycleFindings(closing, through: source)
    }

    private func cycleFindings(_ partners: Set<StoreLocation>, through source: StoreLocation) -> [Finding] {
        partners.map(\.path).sorted()
            .map { partner in
                Finding(
                    .commonStateUnknown,
                    .warning,
                    level: .content,
                    "\(source.path) has content in common with \(partner): after this merge, a share or merge of this store and"
                        + " \(partner) compares them as unrelated stores",
                    path: store.path
                )
            }
    }

    /// The other stores of this store's pairs that have content in common with `source`.
    private func cyclePartners(through source: StoreLocation) throws -> Set<StoreLocation> {
        let partners = try Set(folders().compactMap(standing).flatMap { [$0.run.old, $0.run.new] })
            .subtracting([store, source])
        guard !partners.isEmpty else { return [] }
        let related = try relatives(of: source)
        return try partners.filter { partner in
            try related.contains(partner) || !related.isDisjoint(with: relatives(of: partner))
        }
    }

    /// The maximum number of stores that are followed from one.
    private static let mostRelatives = 64

    /// The stores that pairs and merges connect to `start`, not by way of this store; `start` is one of them.
    private func relatives(of start: StoreLocation) throws -> Set<StoreLocation> {
        var found: Set = [start]
        var pending = [start]
        while let next = pending.popLast(), found.count < Self.mostRelatives {
            let records = PairRecords(store: next, surroundings: surroundings)
            var others = try records.folders().compactMap(standing).flatMap { [$0.run.old, $0.run.new] }
            for journal in journals(of: next) {
                guard let records = try journal.ifUsable({ try $0.records() }) else { continue }
                others += MergeState(records).standing.flatMap { [$0.from, $0.into] }
            }
            for other in others where other != store && found.insert(other).inserted { pending.append(other) }
        }
        return found
    }

    private func journals(of origin: Receipt.Origin) -> [StateFolder] {
        let old = StoreLocation(path: origin.old)
        return journals(of: old) + (origin.state.map { [StateFolder(of: old, named: $0)] } ?? [])
    }

    private func journals(of old: StoreLocation) -> [StateFolder] {
        let beside = StateFolder(of: old, stateFolder: nil)
        return surroundings.stateFolder == nil ? [beside] : [surroundings.stateFolder(of: old), beside]
    }

    /// The run with a valid record in a journal; nil for a journal that is damaged or cannot be trusted.
    private func standing(_ folder: StateFolder) throws -> RunState.SharedRun? {
        try folder.ifUsable { try $0.state() }.flatMap(Self.standing)
    }

    private static func standing(_ state: RunState) -> RunState.SharedRun? {
        switch state {
        case .shared(let shared): shared
        case .interrupted(let run): run.former
        default: nil
        }
    }
}

extension RunState.InterruptedRun {
    /// True for a share that has published its copy at the location, or is about to; the folder may have another name since.
    fileprivate func isReplacing(_ location: StoreLocation, _ main: FileIdentity?) -> Bool {
        guard !run.isInPlace, let written = publication?.main ?? replacement?.main else { return false }
        return run.new == location || main?.mayBe(recorded: written) == true
    }
}
