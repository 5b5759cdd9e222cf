import FoundationEssentials
import SafeFiles
public import StoreAccess
import StoreFormat
import StoreStrategies
import StoreVerification

/// The outcomes of a share.
extension ShareEngine {
    func outcome(of plan: SharePlan, facts: PlanningFacts, state: RunState) throws -> ShareOutcome {
        switch plan.outcome {
        case .shared, .alreadyShared, .nothingFound, .bothHoldObjects, .needsDecision, .lateWrites, .merged:
            var transaction: String?
            if case .shared(let shared) = state { transaction = shared.run.transaction }
            return ShareOutcome(
                outcome: plan.outcome,
                transaction: transaction,
                old: facts.oldCondition.side(old),
                new: facts.newCondition.side(new),
                findings: plan.findings + openFindings(plan),
                message: plan.reason,
                next: plan.following,
                oldStore: plan.oldStore
            )
        default:
            if case .unreadable(let store) = facts.oldCondition { throw store }
            if case .unreadable(let store) = facts.newCondition { throw store }
            throw MigrationError(
                plan.outcome,
                plan.reason,
                path: plan.outcome == .orphanSidecar ? old.path : new.path,
                next: plan.following,
                findings: plan.findings
            )
        }
    }

    func outcome(of plan: SharePlan, inspection: StoreInspection, result: RunResult) throws -> ShareOutcome {
        let objects = result.objects ?? inspection.objectCount
        return ShareOutcome(
            outcome: plan.outcome,
            transaction: result.transaction,
            old: ShareOutcome.Side(
                path: old.path,
                uuid: inspection.uuid,
                // A migration may remove objects from the copy, and a merged store has objects of its own.
                objects: result.work?.migration == nil && result.merge == nil ? objects : inspection.objectCount,
                digest: result.digest
            ),
            new: ShareOutcome.Side(
                path: new.path,
                uuid: inspection.uuid,
                objects: objects,
                digest: result.newDigest ?? result.digest
            ),
            work: result.work,
            merge: result.merge,
            report: result.report,
            findings: plan.findings.map { $0.naming(displaced: result.transaction, at: new) } + result.findings
                + openFindings(plan),
            message: plan.reason,
            next: plan.following,
            oldStore: plan.oldStore,
            descriptions: result.descriptions
        )
    }
}

extension ShareEngine {
    /// Names the other processes that have the old store of a shared pair open, as far as this user can see them.
    func openFindings(_ plan: SharePlan) -> [Finding] {
        guard let policy = plan.oldStore, let status = try? gatherer.status(of: old) else { return [] }
        let holders = OpenFiles.holders(of: status.identity)
            .filter { $0 != ProcessInfo.processInfo.processIdentifier }
        guard !holders.isEmpty else { return [] }
        let names = (holders.count == 1 ? "process " : "processes ") + OpenFiles.names(of: holders)
        let effect = policy == .fence ? "writes are refused" : "writes reach the new store with the next share"
        let message = "the old store is open in \(names): its \(effect) until it is restarted with the new path"
        return [Finding(.oldStoreOpen, .info, level: .files, message, path: old.path)]
    }
}

/// Pending changes that apps archived in preferences files.
extension ShareEngine {
    private var relayCarriage: RelayCarriage {
        RelayCarriage(
            old: old,
            new: new,
            legacyChanges: options.legacyChanges,
            lockTimeout: surroundings.lockTimeout
        )
    }

    /// What a share would find in the preferences files; writes nothing.
    func legacyPreview(forStore uuid: String?) -> [Finding] { relayCarriage.preview(forStore: uuid) }

    /// The outcome, once pending changes are imported beside a store that was shared before.
    ///
    /// A run that copies or merges imports them itself. An outcome that shares nothing imports nothing, and reports
    /// what is pending.
    func importingLegacyChanges(_ outcome: ShareOutcome, _ prospect: Prospect) -> ShareOutcome {
        switch outcome.outcome {
        case .shared, .merged: outcome
        case .alreadyShared: outcome.adding(relayCarriage.importLegacyChanges())
        default: outcome.adding(legacyPreview(forStore: prospect.uuid))
        }
    }
}

extension Finding {
    /// The finding of a completed run, with the path where the displaced store is now.
    fileprivate func naming(displaced transaction: String, at new: StoreLocation) -> Finding {
        guard [.storeKeptAside, .emptyStoreKeptAside].contains(code) else { return self }
        var finding = self
        finding.path = new.folder + "/" + DisplacedFiles.name(for: transaction) + "/" + new.name
        return finding
    }
}

extension Finding {
    /// The path of a store's former content.
    static func storeKept(at location: StoreLocation) -> Finding {
        Finding(.storeKeptAside, .info, level: .files, "a copy of a replaced store is kept", path: location.path)
    }

    /// The path of the rows that lost in a merge.
    static func losingRows(at path: String) -> Finding {
        Finding(.losingRowsKept, .info, level: .files, "rows that lost in a merge are kept", path: path)
    }
}

extension StoreCondition {
    fileprivate func side(_ location: StoreLocation) -> ShareOutcome.Side? {
        inspection.map {
            ShareOutcome.Side(
                path: location.path,
                uuid: $0.uuid,
                objects: $0.objectCount,
                digest: $0.digest?.value
            )
        }
    }
}

extension ShareOutcome {
    /// The outcome when nothing changed since the store was shared.
    static func already(_ shared: RunState.SharedRun, _ plan: SharePlan, _ open: [Finding]) -> ShareOutcome {
        ShareOutcome(
            outcome: .alreadyShared,
            transaction: shared.run.transaction,
            old: Side(
                path: shared.run.old.path,
                uuid: shared.completion.newUUID,
                objects: shared.completion.objects,
                digest: shared.oldState.digest
            ),
            new: Side(path: shared.run.new.path, uuid: shared.completion.newUUID, objects: nil, digest: nil),
            findings: plan.findings + open,
            message: plan.reason,
            next: plan.following,
            oldStore: plan.oldStore
        )
    }
}

extension MigrationError {
    /// The store is shared, but the descriptions could not be written.
    static func sharedWithoutDescriptions(_ cause: FileError, transaction: String) -> MigrationError {
        let error = MigrationError(cause)
        return MigrationError(
            .interrupted,
            "the store is shared, but its descriptions were not written: \(error.message)",
            path: error.path,
            advice: "Run the command again; it only writes the descriptions.",
            underlyingError: cause
        )
    }
}

extension Finding.Code {
    /// A run stopped before it was complete.
    public static let interruptedRun = Finding.Code(rawValue: "interruptedRun")
    /// Other processes have the old store open.
    public static let oldStoreOpen = Finding.Code(rawValue: "oldStoreOpen")
    /// A run is in progress, and its process is alive.
    public static let runAtWork = Finding.Code(rawValue: "runAtWork")
}

extension Finding {
    static func interruptedUnsharing(_ shared: RunState.SharedRun, at location: StoreLocation) -> Finding {
        Finding(
            .interruptedRun,
            .warning,
            level: .files,
            "the unshare of \(shared.run.new.path) was interrupted",
            path: location.path
        )
    }

    static func interrupted(_ run: RunState.InterruptedRun, at location: StoreLocation) -> Finding {
        Finding(
            .interruptedRun,
            .warning,
            level: .files,
            "run \(run.run.transaction) over this store was interrupted",
            path: location.path
        )
    }

    static func atWork(_ transaction: String, _ holders: [Int32], at location: StoreLocation) -> Finding {
        Finding(
            .runAtWork,
            .info,
            level: .files,
            "run \(transaction) over this store is at work in process \(holders.map(String.init).joined(separator: ", "))",
            path: location.path
        )
    }
}
