import ChangeMerging
import Logging
import SafeFiles
public import StoreAccess
import StoreFormat

/// Gathers a status report, and writes nothing.
struct StatusGatherer {
    let old: StoreLocation
    let new: StoreLocation
    let options: ShareOptions
    private let surroundings: Surroundings

    init(old: StoreLocation, new: StoreLocation, options: ShareOptions, surroundings: Surroundings) {
        self.old = old
        self.new = new
        self.options = options
        self.surroundings = surroundings.unreported
    }

    private var gatherer: FactsGatherer { FactsGatherer(old: old, new: new, surroundings: surroundings) }

    func report() throws -> StatusReport {
        let (recorded, holders) = try surroundings.stateFolder(of: old).observed(isShownOnly: true)
        let state = try gatherer.standing(recorded)
        let inspector = surroundings.inspector(.layout)
        let oldCondition = try inspector.inspect(old)
        let newCondition = try inspector.inspect(new)
        let lateWrites = try lateWrites(state, oldCondition)
        let snapshot = try snapshot()
        var findings = (oldCondition.inspection?.findings ?? []) + (newCondition.inspection?.findings ?? [])
        for case .unreadable(let store) in [oldCondition, newCondition] {
            findings.append(
                Finding(.foundButUnreadable, .error, level: .files, store.detail, path: store.path)
            )
        }
        var recovery: String?
        if !holders.isEmpty, let run = state.run {
            findings.append(.atWork(run.transaction, holders, at: old))
        } else if case .interrupted(let run) = state {
            findings.append(.interrupted(run, at: old))
            recovery = try describe(
                RunRecovery(run, settings: options.runSettings, surroundings: surroundings).decision()
            )
        } else if case .unsharing(let shared, _) = state {
            findings.append(.interruptedUnsharing(shared, at: old))
            recovery = "continues the unshare: brings the new store's content back"
        }
        let isRetiring = try RetireRun(old: old, options, surroundings).isInterrupted(state)
        if isRetiring { recovery = "removes the remaining files of the old store, which is archived" }
        if case .shared(let shared) = state, shared.completion.leavesRows == true {
            findings.append(.rowsOnlyInOldStore(at: old))
        }
        if state == .none, let folder = try gatherer.recordedElsewhere() {
            findings.append(.recordedElsewhere(folder, at: new))
        }
        if case .voided = state { findings.append(.commonStateUnknown(at: old)) }
        findings += sharedOn(newCondition) + snapshot
        findings += try [old, new].flatMap(DisplacedFiles.stores(displacedFrom:)).map(Finding.storeKept(at:))
        findings += try surroundings.stateFolder(of: old).losingRows().map(Finding.losingRows(at:))
        if lateWrites == .found { findings.append(.writtenLate(at: old)) }
        let advice =
            try !holders.isEmpty
            ? Advice()
            : isRetiring
                ? Advice(next: .resume(old: old.path)) : advice(state, lateWrites, isSnapshotAtNew: !snapshot.isEmpty)
        return StatusReport(
            old: try place(old, oldCondition),
            new: try place(new, newCondition),
            run: try holders.isEmpty ? run(of: state) : .atWork,
            recovery: recovery,
            transaction: transaction(of: state),
            archive: archive(of: state),
            lateWrites: lateWrites,
            policy: state.choices?.oldStore,
            findings: findings + (findings.contains { $0.severity == .error } ? [] : advice.refusal.map { [$0] } ?? []),
            next: advice.next,
            choices: advice.choices
        )
    }

    /// The pair of a captured new store with a third one: rows that a share of this pair carries do not arrive there.
    private func sharedOn(_ condition: StoreCondition) -> [Finding] {
        guard let inspection = condition.inspection, inspection.fence == nil,
            case .shared(let further)? = try? surroundings.besideStores.stateFolder(of: new).state(isShownOnly: true),
            further.run.new != old
        else { return [] }
        let target = further.run.new.path
        let message = "the new store was shared on to \(target), and takes writes; see the status of that pair"
        return [Finding(.sharedOn, .info, level: .files, message, path: new.path)]
    }

    /// A snapshot at the new path, which no share uses.
    private func snapshot() throws -> [Finding] {
        guard let folder = try FileError.ifUsable({ try Directory.open(path: new.folder) }),
            let source = try SnapshotRecord.snapshot(at: new, in: folder)?.source
        else { return [] }
        let message = "the new path has a snapshot that was published from \(source), which no share replaces"
        return [Finding(.publishedSnapshot, .info, level: .files, message, path: new.path)]
    }

    private func describe(_ decision: RecoveryDecision) -> String {
        switch decision {
        case .back: "rolls the run back: the copy was not published"
        case .forward: "finishes the run: the copy is published"
        case .undecided: "changes neither store: the new one has neither the former nor the new content"
        }
    }

    private func lateWrites(_ state: RunState, _ condition: StoreCondition) throws -> StatusReport.LateWrites {
        if case .voided = state { return .unknown }
        guard case .shared(let shared) = state else { return .notApplicable }
        guard condition.inspection != nil else { return .unknown }
        // The rows are at another path than the one that the caller names.
        if case .elsewhere = try gatherer.namedPlace(of: shared) { return .notApplicable }
        return try gatherer.isUnchanged(shared.oldState) ? .none : .found
    }

    private func place(_ location: StoreLocation, _ condition: StoreCondition) throws -> StatusReport.Place {
        let inspection = condition.inspection
        let holders = inspection.map { OpenFiles.holders(of: $0.identity) } ?? []
        let presence: StatusReport.Presence =
            switch condition {
            case .absent: .absent
            case .emptyFile: .emptyFile
            case .orphanSidecar: .orphanSidecar
            case .unreadable: .unreadable
            case .store: .store
            }
        return StatusReport.Place(
            path: location.path,
            presence: presence,
            uuid: inspection?.uuid,
            journalMode: inspection?.header.journalMode,
            isFenced: presence == .unreadable ? nil : inspection?.fence != nil,
            holders: holders,
            holderNames: OpenFiles.names(of: holders)
        )
    }

    private func run(of state: RunState) throws -> StatusReport.Run {
        switch state {
        case .none: try gatherer.isUnshared(state) ? .unshared : .none
        case .interrupted: .interrupted
        case .shared, .voided: .shared
        case .retired: .retired
        case .unsharing: .interrupted
        }
    }

    private func transaction(of state: RunState) -> String? {
        switch state {
        case .none: nil
        case .interrupted(let run): run.run.transaction
        case .shared(let shared), .retired(let shared, _), .unsharing(let shared, _), .voided(let shared):
            shared.run.transaction
        }
    }

    private func archive(of state: RunState) -> String? {
        guard case .retired(let shared, _) = state else { return nil }
        return shared.archive?.path
    }

    /// The next command, or those of which a person chooses one.
    private struct Advice {
        var next: NextStep?
        var choices: [NextStep] = []
        /// Why there is neither.
        var refusal: Finding?
    }

    private func advice(
        _ state: RunState,
        _ lateWrites: StatusReport.LateWrites,
        isSnapshotAtNew: Bool
    ) throws -> Advice {
        switch state {
        case .interrupted: return Advice(next: .resume(old: old.path))
        case .unsharing(let shared, _): return Advice(next: .unshare(old: old.path, new: shared.run.new.path))
        case .shared(let shared) where lateWrites == .none && shared.completion.leavesRows != true:
            // A chain's middle store is out of use, and the old store can be retired all the same.
            if case .succeeded = try gatherer.namedPlace(of: shared) { return Advice(next: .retire(old: old.path)) }
            return try advice(of: plan(state))
        case .shared(let shared): return try advice(of: plan(state), hasBase: shared.base != nil)
        case .none, .voided, .retired:
            if state == .none, let folder = try gatherer.recordedElsewhere() {
                return Advice(next: .inStateFolder(folder, .status(old: old.path, new: new.path)))
            }
            if isSnapshotAtNew { return Advice(next: .removeSnapshot(path: new.path)) }
            let plan = try plan(state)
            // The pair was ended on purpose; only a person knows when to share it again.
            if plan.outcome == .shared, try gatherer.isUnshared(state) { return Advice() }
            return try advice(of: plan)
        }
    }

    /// What a share would do now, or why it would stop.
    private func plan(_ state: RunState) throws -> SharePlan {
        let options = options.keeping(try gatherer.choices(state))
        do {
            return try SharePlanner(facts: gatherer.facts(state: state, modelFile: options.modelFile), options: options)
                .plan()
        } catch let error as MigrationError {
            return SharePlan(outcome: error.outcome, old: old, new: new, reason: error.message, next: error.next)
        }
    }

    private func advice(of plan: SharePlan, hasBase: Bool = false) throws -> Advice {
        func share(_ decision: ShareOptions.BothPlacesPolicy, identifying entities: [String] = []) -> NextStep {
            .share(old: old.path, new: new.path, onBoth: decision, identifying: entities)
        }
        func merge() throws -> NextStep {
            // A base of the pair says which objects are the same.
            let entities = plan.outcome == .alreadyShared && hasBase ? [] : try unidentified()
            return .merge(into: new.path, from: old.path, identifying: entities)
        }
        return switch plan.outcome {
        case .bothHoldObjects:
            try Advice(choices: [share(.merge, identifying: unidentified()), share(.keepOld), share(.keepNew)])
        case .lateWrites: try Advice(choices: [merge(), share(.keepNew)])
        case .alreadyShared where plan.findings.contains { $0.code == .rowsOnlyInOldStore }:
            try Advice(choices: [merge(), .retire(old: old.path)])
        // The store at the new path is another or an older one: only a person knows which is right.
        case _ where plan.next == .status(old: old.path, new: new.path):
            try Advice(
                choices: [
                    .diff(old.path, new.path), share(.merge, identifying: unidentified()), share(.keepOld),
                    share(.keepNew),
                ]
            )
        case .nothingFound where plan.next == nil: Advice()
        case .nothingFound, .alreadyShared: Advice(next: plan.next ?? originOfNew)
        case _ where plan.outcome.isRefusal && plan.next == nil:
            Advice(
                refusal: Finding(
                    .init(rawValue: plan.outcome.rawValue),
                    .error,
                    level: .files,
                    plan.reason,
                    path: old.path
                )
            )
        default: Advice(next: plan.next)
        }
    }

    /// The entities for which a merge of both stores would ask for an identity, because they have no base.
    private func unidentified() throws -> [String] {
        try surroundings.reader.read(old) { old in
            try surroundings.reader.read(new) { new in
                try MergeRefusal.unidentified(in: old.connection, and: new.connection, options.mergeSettings)
            }
        }
    }

    /// The status of the pair that the receipt beside the new store names, when the old path has no store: it may be
    /// misspelt.
    private var originOfNew: NextStep? {
        guard let folder = try? gatherer.folder(of: new),
            let origin = (try? Receipt(beside: new.name, in: folder))?.old,
            origin != old.path,
            let state = try? surroundings.stateFolder(of: StoreLocation(path: origin)).state(isShownOnly: true),
            state != .none
        else { return nil }
        return .status(old: origin, new: new.path)
    }
}

extension Finding.Code {
    /// The new store was shared to a third one, and still takes writes.
    public static let sharedOn = Finding.Code(rawValue: "sharedOn")
    /// A file exists that cannot be read as a store.
    public static let foundButUnreadable = Finding.Code(rawValue: "foundButUnreadable")
}
