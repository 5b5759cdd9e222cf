import Logging
import SafeFiles
public import StoreFormat

/// Gathers a status report, and writes nothing.
struct StatusGatherer {
    let old: StoreLocation
    let new: StoreLocation
    let options: ShareOptions
    let logger: Logger

    private var gatherer: FactsGatherer { FactsGatherer(old: old, new: new, options: options, monitor: .silent) }

    func report() throws -> StatusReport {
        let (state, holders) = try StateFolder(of: old, stateFolder: options.stateFolder).observed(isShownOnly: true)
        let inspector = StoreInspector(
            depth: .layout,
            lockTimeout: options.effectiveLockTimeout,
            allowsNetworkFileSystem: options.allowsNetworkFileSystem,
            listsExternalFiles: false
        )
        let oldCondition = try inspector.inspect(old)
        let newCondition = try inspector.inspect(new)
        let lateWrites = try lateWrites(state, oldCondition)
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
                RunRecovery(run, options: options, monitor: .silent, logger: logger).decision()
            )
        } else if case .unsharing(let shared, _) = state {
            findings.append(.interruptedUnsharing(shared, at: old))
            recovery = "continues the unshare: brings the new store's content back"
        }
        let isRetiring = try RetireRun(old: old, options: options, logger: logger).isInterrupted(state)
        if isRetiring { recovery = "removes the remaining files of the old store, which is archived" }
        if case .shared(let shared) = state, shared.completion.leavesRows == true {
            findings.append(.rowsOnlyInOldStore(at: old))
        }
        if case .voided = state { findings.append(.commonStateUnknown(at: old)) }
        if lateWrites == .found {
            findings.append(
                Finding(
                    .lateWrites,
                    .warning,
                    level: .content,
                    "the old store was written to after it was shared",
                    path: old.path
                )
            )
        }
        return StatusReport(
            old: try place(old, oldCondition),
            new: try place(new, newCondition),
            run: holders.isEmpty ? run(of: state) : .atWork,
            recovery: recovery,
            transaction: transaction(of: state),
            archive: archive(of: state),
            lateWrites: lateWrites,
            findings: findings,
            next: !holders.isEmpty
                ? nil : isRetiring ? .resume(old: old.path) : try next(state, lateWrites, oldCondition, newCondition)
        )
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
        return try gatherer.isUnchanged(shared.oldState) ? .none : .found
    }

    private func place(_ location: StoreLocation, _ condition: StoreCondition) throws -> StatusReport.Place {
        let inspection = condition.inspection
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
            isFenced: inspection?.fence != nil,
            holders: inspection.map { OpenFiles.holders(of: $0.identity) } ?? []
        )
    }

    private func run(of state: RunState) -> StatusReport.Run {
        switch state {
        case .none: .none
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

    private func next(
        _ state: RunState,
        _ lateWrites: StatusReport.LateWrites,
        _ oldCondition: StoreCondition,
        _ newCondition: StoreCondition
    ) throws -> NextStep? {
        switch state {
        case .interrupted: return .resume(old: old.path)
        case .shared(let shared) where try shared.run.new != new && gatherer.namedPlace(of: shared) != .ours:
            return .status(old: old.path, new: shared.run.new.path)
        case .shared(let shared) where lateWrites == .none && shared.completion.leavesRows != true:
            return .retire(old: old.path)
        case .shared where lateWrites == .none:
            return try .merge(into: Succession(of: new, options: options)?.store.path ?? new.path, from: old.path)
        case .shared(let shared) where try shared.base != nil && Succession(of: new, options: options) != nil:
            let end = try Succession(of: new, options: options)?.store.path ?? new.path
            return .share(old: old.path, new: end, flags: shared.completion.isFenced ? [] : options.policyFlags)
        case .shared(let shared) where shared.base != nil: return .share(old: old.path, new: new.path, flags: [])
        case .shared: return .verify(store: new.path)
        case .retired: return nil
        case .unsharing(let shared, _): return .unshare(old: old.path, new: shared.run.new.path)
        case .none, .voided:
            guard oldCondition.inspection != nil else { return nil }
            return .share(old: old.path, new: new.path, flags: [])
        }
    }
}

extension Finding.Code {
    /// A file exists that cannot be read as a store.
    public static let foundButUnreadable = Finding.Code(rawValue: "foundButUnreadable")
}
