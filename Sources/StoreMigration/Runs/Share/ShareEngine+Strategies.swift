import FoundationEssentials
import Logging
import ModelMigration
import SafeFiles
import StoreAccess
import StoreFormat
import StoreStrategies

/// The part of a share that concerns strategies.
extension ShareEngine {
    /// Inspects, plans, and runs the strategies; holds no lock.
    func prospect(_ state: RunState) throws -> Prospect {
        if let shared = try unchangedSince(state) {
            try surroundings.require(options.mergeSettings, in: new)
            let plan = SharePlan(already: shared, at: new)
            let described = try questionInPlace().map { try DescribedStore(asking: pipeline, $0) }
            return Prospect(
                plan: try describing(plan, described),
                facts: nil,
                shared: shared,
                described: described,
                target: target
            )
        }
        let facts = try gatherer.facts(state: state, modelFile: options.modelFile, migratingTo: target)
        if let requested = try requestedTarget(facts) {
            var engine = self
            engine.target = requested
            return try engine.prospect(state)
        }
        let plan = SharePlanner(facts: facts, options: options).plan()
        if plan.outcome != .incompatible { try requireMergeNames(facts) }
        let described = try question(about: plan, facts).map { try DescribedStore(asking: pipeline, $0) }
        return Prospect(
            plan: try describing(plan, described),
            facts: facts,
            shared: nil,
            described: described,
            target: target
        )
    }

    /// The model version to which roles with automatic migration would migrate the store; nil without such a role, or if
    /// the caller named one.
    private func requestedTarget(_ facts: PlanningFacts) throws -> MigrationTarget? {
        guard target == nil, pipeline.steps.contains(where: \.setsMigration), let old = facts.oldCondition.inspection,
            old.kind == .coreData, facts.earlierRun == nil || facts.earlierRun?.newPlace == .absent
        else { return nil }
        let question = try StrategyQuestion(old, isCopied: true, at: new, in: RunContext.openContainer(new))
        var found: (role: StoreRole, target: MigrationTarget)?
        for role in try pipeline.describe(question.facts, from: question.base) where role.asksForMigration {
            guard let path = role.description.modelFile ?? options.modelFile?.path else { continue }
            let target = try MigrationTarget.named(path, version: nil, lockTimeout: surroundings.lockTimeout)
            guard let former = found else {
                found = (role.role, target)
                continue
            }
            guard former.target.isSameVersion(as: target) else {
                throw StrategyError(
                    .disagreement,
                    "\(former.role) and \(role.role) would migrate the store to different model versions",
                    recoverySuggestion: "Name the same model version for both, or give one of them migrate=false."
                )
            }
        }
        return found?.target
    }

    /// Throws if a merge setting names an entity or property that the store lacks, even when nothing is merged.
    private func requireMergeNames(_ facts: PlanningFacts) throws {
        let stores = [facts.newCondition, facts.oldCondition].compactMap(\.inspection)
        guard let store = stores.first(where: { !$0.isBlank }) else { return }
        try surroundings.require(options.mergeSettings, in: store.location)
    }

    /// The strategies' input for a plan: the store that is copied, or the existing one; nil when no strategy was named,
    /// or nothing is shared.
    func question(about plan: SharePlan, _ facts: PlanningFacts) throws -> StrategyQuestion? {
        guard !pipeline.isEmpty, plan.copies || plan.outcome == .alreadyShared,
            let inspection = (plan.copies ? facts.oldCondition : facts.newCondition).inspection
        else { return nil }
        return try StrategyQuestion(
            inspection,
            isCopied: plan.copies,
            target: plan.migration?.target,
            at: new,
            in: RunContext.openContainer(new)
        )
    }

    /// The strategies' input for a store that was shared before.
    private func questionInPlace() throws -> StrategyQuestion? {
        guard !pipeline.isEmpty else { return nil }
        let inspection: StoreInspection
        switch try gatherer.condition(of: new) {
        case .store(let found): inspection = found
        case .unreadable(let store): throw store
        case .absent, .emptyFile, .orphanSidecar: return nil
        }
        return try StrategyQuestion(inspection, isCopied: false, at: new, in: RunContext.openContainer(new))
    }

    // MARK: Results of strategies

    /// The plan with the strategies' results: the steps for a copy, or the differences of an existing store.
    func describing(_ plan: SharePlan, _ described: DescribedStore?) throws -> SharePlan {
        var findings = plan.copies ? try rightsFindings(plan, described?.treatment) : []
        guard let described else { return plan.describing([], steps: plan.steps, findings: findings) }
        guard plan.copies else {
            let differences = try described.differences()
            // Remarks that were reported when the store was shared are not repeated.
            let notes = try differences.isEmpty && recorded() != described.descriptions ? described.notes : []
            return plan.describing(described.roles, steps: plan.steps, findings: differences + notes)
        }
        findings += described.notes
        var steps = plan.steps
        if described.treatment.changesMainFile || described.treatment.changesRights,
            let index = steps.firstIndex(where: { $0.action == .prove })
        {
            steps.insert(PlanStep(.describe, path: new.path), at: index)
        }
        return plan.describing(described.roles, steps: steps, findings: findings)
    }

    /// Findings for a container of another group than its new files, and for users who can read only the new store.
    private func rightsFindings(_ plan: SharePlan, _ treatment: StoreTreatment?) throws -> [Finding] {
        guard let container = try gatherer.folder(of: new), let source = try gatherer.folder(of: old),
            let original = try source.status(of: old.name)
        else { return [] }
        let folder = try container.status()
        var group = treatment?.group ?? ownGroup(in: folder)
        var mode = treatment?.mode ?? original.mode
        if case .replaceContent? = plan.work, let status = try container.status(of: new.name) {
            (group, mode) = (status.group, status.mode)
        }
        let before = ReadAccess(mode: original.mode, group: original.group, in: source)
        let meant = Set([folder.group, treatment?.group].compactMap { $0 })
        var findings = ReadAccess(mode: mode, group: group, in: container)
            .findings(comparedTo: before, meant: meant, path: new.path)
        if try container.hasAccessList() { findings.append(.accessListNotCompared(of: container.path)) }
        guard group != folder.group else { return findings }
        return findings + [
            Finding(
                .containerOfAnotherGroup,
                .warning,
                level: .files,
                "the folder belongs to the group \(folder.group), and the store's files to the group \(group): members of only "
                    + "one of them may lack access to the store",
                path: new.path
            )
        ]
    }

    /// The group of files that this user creates in a folder.
    private func ownGroup(in folder: FileStatus) -> UInt32 {
        let isHandedDown = folder.mode & 0o2000 != 0
        return isHandedDown || UserGroup.mayBeGiven(folder.group) ? folder.group : UserGroup.ofNewFiles
    }

    /// The outcome of a share with nothing to do, with how each role opens the store.
    func describing(_ outcome: ShareOutcome, _ described: DescribedStore?) throws -> ShareOutcome {
        guard outcome.descriptions.isEmpty else { return outcome }
        return switch outcome.outcome {
        case .alreadyShared: outcome.adding(descriptions: try descriptionsInForce(described) { try recorded() })
        // With a next step, the store is at a third path.
        case .nothingFound where options.ifMissing == .ignore && outcome.next == nil:
            outcome.adding(descriptions: try descriptionsOfFirstLaunch())
        default: outcome
        }
    }

    /// How each role opens the store that the app creates at its first launch.
    private func descriptionsOfFirstLaunch() throws -> [StoreRole: PersistentStoreDescription] {
        guard !pipeline.isEmpty || options.descriptionsFile != nil, let container = try gatherer.folder(of: new) else {
            return [:]
        }
        var base = PersistentStoreDescription(url: new.url)
        base.sqlitePragmas["journal_mode"] = "WAL"
        let roles = try pipeline.describe(StoreFacts(ofNewStoreIn: container), from: base)
        return [StoreRole: PersistentStoreDescription](uniqueKeysWithValues: roles.map { ($0.role, $0.description) })
    }

    /// How each role opens an existing store: as strategies describe it if that is in force, else as recorded, else as
    /// it is.
    func descriptionsInForce(
        _ described: DescribedStore?,
        _ inspection: StoreInspection? = nil,
        asShared recorded: () throws -> [StoreRole: PersistentStoreDescription]
    ) throws -> [StoreRole: PersistentStoreDescription] {
        if let described, try described.differences().isEmpty { return described.descriptions }
        let recorded = try recorded()
        guard recorded.isEmpty, inspection != nil || options.descriptionsFile != nil,
            let found = try inspection ?? gatherer.condition(of: new).inspection
        else { return recorded }
        return [.app: found.mirroredDescription(at: new)]
    }

    /// The descriptions in the receipt beside the new store.
    func recorded() throws -> [StoreRole: PersistentStoreDescription] { try Receipt.descriptions(of: new) }

    // MARK: The file of descriptions

    /// The caller's file for descriptions.
    func descriptionsFile() throws -> DescriptionsFile? {
        try options.descriptionsFile.map { try DescriptionsFile($0, besides: [old, new]) }
    }

    /// The outcome, once its descriptions are written.
    func writing(_ outcome: ShareOutcome, to file: DescriptionsFile?) throws -> ShareOutcome {
        if !outcome.descriptions.isEmpty { try file?.stage(outcome.descriptions).commit() }
        return outcome
    }
}

extension StrategyPipeline.Step {
    /// True for a strategy that decides about automatic migration.
    fileprivate var setsMigration: Bool {
        strategy.documentation.sets.contains(.shouldMigrateStoreAutomatically)
    }
}

extension RoleDescription {
    /// True if a strategy turned automatic migration with an inferred mapping on for this role.
    fileprivate var asksForMigration: Bool {
        applied.contains { $0.changes.shouldMigrateStoreAutomatically == true }
            && description.shouldMigrateStoreAutomatically && description.shouldInferMappingModelAutomatically
    }
}

extension SharePlan {
    /// The plan when nothing changed since the store was shared.
    init(already shared: RunState.SharedRun, at new: StoreLocation) {
        self.init(
            outcome: .alreadyShared,
            old: shared.run.old,
            new: new,
            findings: shared.completion.leavesRows == true ? [.rowsOnlyInOldStore(at: shared.run.old)] : [],
            reason: "the store is shared, and the old store is unchanged since",
            next: shared.completion.leavesRows == true
                ? .status(old: shared.run.old.path, new: new.path) : .retire(old: shared.run.old.path),
            oldStore: shared.completion.isFenced ? .fence : .capture
        )
    }
}
