public import ModelMigration
public import StoreAccess

extension Finding.Code {
    /// Rows exist only in the old store, because the caller decided to keep the new one unchanged.
    public static let rowsOnlyInOldStore = Finding.Code(rawValue: "rowsOnlyInOldStore")
    /// The destination had an empty store, of which a copy is kept.
    public static let emptyStoreKeptAside = Finding.Code(rawValue: "emptyStoreKeptAside")
    /// A copy of the destination's store was kept before its content was replaced.
    public static let storeKeptAside = Finding.Code(rawValue: "storeKeptAside")
    /// Rows that lost against other versions in a merge are kept in a file, one a line.
    public static let losingRowsKept = Finding.Code(rawValue: "losingRowsKept")
    /// A file of zero bytes has the name of a store.
    public static let emptyFile = Finding.Code(rawValue: "emptyFile")
    /// The destination had sidecars without a main file, which were displaced.
    public static let sidecarsMovedAside = Finding.Code(rawValue: "sidecarsMovedAside")
    /// The store was shared before, and the shared store is missing.
    public static let sharedStoreMissing = Finding.Code(rawValue: "sharedStoreMissing")
    /// The new store's name lacks the old one's extension.
    public static let otherExtension = Finding.Code(rawValue: "otherExtension")
    /// The caller asks for an old store that accepts writes, and the fence of an earlier share stays.
    public static let fenceStays = Finding.Code(rawValue: "fenceStays")
    /// The old store was written to after it was copied.
    public static let lateWrites = Finding.Code(rawValue: "lateWrites")
}

extension Finding {
    static func rowsOnlyInOldStore(at location: StoreLocation) -> Finding {
        Finding(
            .rowsOnlyInOldStore,
            .warning,
            level: .content,
            "rows exist only in the old store, because the new one was kept unchanged: after a retire they are only in"
                + " its archive; merge the old store into the new one to carry them",
            path: location.path
        )
    }

    static func fenceStays(at location: StoreLocation) -> Finding {
        Finding(
            .fenceStays,
            .warning,
            level: .files,
            "the old store still refuses writes: a later share removes no fence; to capture instead, unshare the store and"
                + " share it again",
            path: location.path
        )
    }

    static func zeroByteFile(at location: StoreLocation) -> Finding {
        Finding(.emptyFile, .info, level: .files, "a file of zero bytes counts as no store", path: location.path)
    }

    static func emptyStoreAside(at location: StoreLocation) -> Finding {
        Finding(
            .emptyStoreKeptAside,
            .info,
            level: .files,
            "a copy of the empty store at the new path is kept",
            path: location.path
        )
    }

    static func storeAside(at location: StoreLocation) -> Finding {
        Finding(
            .storeKeptAside,
            .info,
            level: .files,
            "a copy of the store at the new path is kept",
            path: location.path
        )
    }

    static func sidecarsAside(_ names: [String], at location: StoreLocation) -> Finding {
        Finding(
            .sidecarsMovedAside,
            .info,
            level: .files,
            "\(names.sorted().joined(separator: " and ")) had no main file and is moved to the displaced files",
            path: location.path
        )
    }

    static func sharedStoreGone(from location: StoreLocation) -> Finding {
        Finding(
            .sharedStoreMissing,
            .error,
            level: .files,
            "the shared store is missing; the old store is shared again",
            path: location.path
        )
    }

    static func writtenLate(at location: StoreLocation) -> Finding {
        Finding(
            .lateWrites,
            .warning,
            level: .content,
            "the old store was written to after it was shared",
            path: location.path
        )
    }
}

extension SharePlan {
    /// The migration of the copy.
    public struct Migration: Hashable, Sendable {
        public let target: MigrationTarget
        public let mapping: InferredMapping
    }

    /// This plan with the migration that the caller asked for: of the copy, if there is one.
    ///
    /// A shared store is migrated in place by a command of its own, because programs have it open.
    func migrating(_ facts: MigrationFacts) -> SharePlan {
        let target = facts.target
        if work?.copies == true {
            if !facts.refusals.isEmpty {
                return refused(
                    .incompatible,
                    reason: facts.refusals.sentence,
                    findings: facts.refusals.findings(at: old.path),
                    next: .inspect(path: old.path)
                )
            }
            guard let mapping = facts.mapping else { return self }
            return migrating(Migration(target: target, mapping: mapping))
        }
        guard facts.newStanding == .older, !outcome.isRefusal else { return self }
        return refused(
            .needsDecision,
            reason: "the store at the new path has an older model version; migrate it, then share again",
            next: .migrate(store: new.path, model: target.path, version: target.versionName)
        )
    }

    private func migrating(_ migration: Migration) -> SharePlan {
        var steps = steps
        let index = steps.firstIndex { $0.action == .prove } ?? steps.endIndex
        steps.insert(PlanStep(.migrate, path: new.path), at: index)
        return SharePlan(
            outcome: outcome,
            old: old,
            new: new,
            work: work,
            steps: steps,
            findings: findings,
            reason: reason,
            next: following,
            oldStore: oldStore,
            roles: roles,
            migration: migration
        )
    }

    private func refused(
        _ outcome: MigrationOutcome,
        reason: String,
        findings: [Finding] = [],
        next: NextStep
    ) -> SharePlan {
        SharePlan(outcome: outcome, old: old, new: new, findings: findings, reason: reason, next: next)
    }
}

extension PlanningFacts {
    /// The share that migrates the old store's rows to the new store's model version.
    func shareThatMigrates(intoEmpty isEmpty: Bool) -> NextStep {
        .share(old: old.path, new: new.path, onBoth: isEmpty ? nil : .merge, migratingTo: new.path)
    }
}
