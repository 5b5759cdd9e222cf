import SafeFiles
import StoreFormat
import StoreStrategies

/// A store as strategies describe it: how each role opens it, and how the store must be changed for that.
struct DescribedStore {
    let question: StrategyQuestion
    let roles: [RoleDescription]
    let treatment: StoreTreatment
    /// The strategies that apply to Apple's platforms only.
    private let forApplePlatforms: Set<String>
    /// Plugins that the kernel cannot confine fully, each with the gaps.
    private let unconfined: [(strategy: String, things: String)]

    var inspection: StoreInspection { question.inspection }

    /// Runs the strategies; throws for conflicting options, and for a model that does not fit.
    ///
    /// Strategies may be slow, and plugins are other programs: hold no lock.
    init(asking pipeline: StrategyPipeline, _ question: StrategyQuestion) throws {
        let appleOnly = pipeline.steps.map(\.strategy).filter(\.documentation.isForApplePlatforms).map(\.name)
        let plugins = pipeline.steps.compactMap { $0.strategy as? any ConfinedStrategy }
        try self.init(
            question,
            roles: try pipeline.describe(question.facts, from: question.base),
            forApplePlatforms: Set(appleOnly),
            unconfined: plugins.compactMap { plugin in plugin.unconfined.map { (plugin.name, $0) } }
        )
    }

    private init(
        _ question: StrategyQuestion,
        roles: [RoleDescription],
        forApplePlatforms: Set<String>,
        unconfined: [(strategy: String, things: String)]
    ) throws {
        self.question = question
        self.roles = roles
        self.forApplePlatforms = forApplePlatforms
        self.unconfined = unconfined
        treatment = try StoreTreatment(roles, of: question.inspection, migratingTo: question.target)
        for role in roles { try Self.requireFittingModel(role, question) }
    }

    /// The same answers for the present store; nil when strategies described another state.
    func answering(_ question: StrategyQuestion) throws -> DescribedStore? {
        guard question.isAnswered(by: self.question) else { return nil }
        return try DescribedStore(
            question,
            roles: roles,
            forApplePlatforms: forApplePlatforms,
            unconfined: unconfined
        )
    }

    /// How each role opens the store.
    var descriptions: [StoreRole: PersistentStoreDescription] {
        [StoreRole: PersistentStoreDescription](uniqueKeysWithValues: roles.map { ($0.role, $0.description) })
    }

    /// The journal mode of the store after the share.
    var journalMode: StoreHeader.JournalMode { treatment.journalMode ?? inspection.header.journalMode }

    private static func requireFittingModel(_ role: RoleDescription, _ question: StrategyQuestion) throws {
        guard let path = role.description.modelFile else { return }
        let carried = try ModelFile.carried(by: "\(role.role)", at: path)
        guard question.target.map(carried.opens) ?? carried.covers(question.inspection) else {
            throw MigrationError(
                .incompatible,
                question.target == nil
                    ? "the store was made with a model that \(role.role) does not carry"
                    : "the store would be migrated to a model version that \(role.role) does not carry",
                path: path,
                advice: "Name the model that this program carries, or update the program first."
            )
        }
    }

    // MARK: Notes

    /// Remarks on the strategies' results.
    var notes: [Finding] { carriedNotes + unconfinedNotes + skippedNotes + readerNotes + groupNotes }

    private func note(_ code: Finding.Code, _ severity: Finding.Severity, _ message: String) -> Finding {
        Finding(code, severity, level: .files, message, path: question.place.path)
    }

    private var carriedNotes: [Finding] {
        var seen: Set<String> = []
        return roles.flatMap(\.applied)
            .compactMap { applied in
                let isApples = forApplePlatforms.contains(applied.strategy)
                let options = applied.changes.values.keys.filter { isApples || $0.isCarriedOnly }.sorted()
                guard !options.isEmpty else { return nil }
                let names = options.map(\.rawValue).joined(separator: " and ")
                let message =
                    "\(applied.strategy) sets \(names) for Apple's platforms; it has no effect here"
                return seen.insert(message).inserted ? note(.forApplePlatforms, .info, message) : nil
            }
    }

    private var unconfinedNotes: [Finding] {
        unconfined.map { plugin in
            note(
                .strategyNotConfined,
                .warning,
                "this kernel cannot keep the plugin \(plugin.strategy) from \(plugin.things)"
            )
        }
    }

    private var skippedNotes: [Finding] {
        roles.flatMap { role in
            role.skipped.map { skipped in
                note(
                    .strategySkipped,
                    .info,
                    "\(skipped.strategy) does not apply to \(role.role): \(skipped.reason)"
                )
            }
        }
    }

    private var readerNotes: [Finding] {
        DescriptionComparison(facts: question.facts, descriptions: roles).readersWithoutLog
            .map { reader in
                note(
                    .readerNeedsLog,
                    .warning,
                    "\(reader) reads only, and without write access to the folder it cannot open a store in WAL mode: "
                        + "give its group write access, or keep the store in rollback journal mode"
                )
            }
    }

    private var groupNotes: [Finding] {
        guard treatment.changesRights, question.facts.containerMode & 0o2000 == 0 else { return [] }
        return [
            note(
                .containerKeepsNoGroup,
                .warning,
                "logs and journals beside the store get the group of the program that creates them, "
                    + "because their folder has no setgid bit (chmod g+s)"
            )
        ]
    }
}
