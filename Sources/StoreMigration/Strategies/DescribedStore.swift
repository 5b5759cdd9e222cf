import SafeFiles
import StoreAccess
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

extension DescribedStore {
    /// Throws when an existing store, which other processes may have open, would have to be changed.
    func requireFit(of occupant: StoreInspection?, with status: FileStatus) throws {
        func refuse(_ what: String, _ command: String) -> MigrationError {
            MigrationError(
                .needsDecision,
                "the store at the new path \(what), which is not changed while others may have it open",
                path: question.place.path,
                advice: "Close every program that has it open, then: \(command)"
            )
        }
        let path = "'\(question.place.path)'"
        if treatment.journalMode != nil || roles.contains(where: { $0.description.journalMode != nil }),
            let occupant, occupant.header.journalMode == .wal, journalMode == .rollback
        {
            throw refuse("is in write-ahead log mode", "sqlite3 \(path) 'PRAGMA journal_mode=DELETE'")
        }
        if let mode = treatment.mode, status.mode & 0o777 != mode {
            throw refuse("has the mode \(PosixMode.text(status.mode & 0o777))", "chmod \(PosixMode.text(mode)) \(path)")
        }
        if let group = treatment.group, status.group != group {
            throw refuse("belongs to the group \(status.group)", "chgrp \(group) \(path)")
        }
    }

    /// The differences between an existing store and the strategies, each with the option and the strategy.
    ///
    /// They are read from the header, the tables, and the modes and groups of the files. The other options apply to a
    /// connection, not to the store.
    func differences() throws -> [Finding] {
        var found: [Finding] = []
        func note(_ option: DescriptionOption, _ value: String) {
            guard let (strategy, wanted) = setting(of: option) else { return }
            found.append(
                Finding(
                    .strategiesNotApplied,
                    .warning,
                    level: .files,
                    "\(option) is \(value) in the shared store, and \(strategy) requires \(wanted); "
                        + "nothing was changed, because others may have it open",
                    path: question.place.path
                )
            )
        }
        if treatment.journalMode != nil { note(.journalMode, inspection.header.journalMode == .wal ? "WAL" : "DELETE") }
        if treatment.addsHistory { note(.isHistoryTrackingEnabled, "false") }
        let files = try filesInPlace()
        if let mode = treatment.mode, let other = files.first(where: { $0.mode & 0o777 != mode }) {
            note(.posixMode, PosixMode.text(other.mode & 0o777))
        }
        if let group = treatment.group, let other = files.first(where: { $0.group != group }) {
            note(.posixGroup, String(other.group))
        }
        return found
    }

    /// The strategy that sets an option, and the value.
    private func setting(of option: DescriptionOption) -> (strategy: String, value: String)? {
        roles.lazy.flatMap(\.applied)
            .compactMap { applied in applied.changes.values[option].map { (applied.strategy, $0) } }
            .first
    }

    /// The main file and the external files.
    private func filesInPlace() throws -> [FileStatus] {
        let main = try question.container.status(of: question.place.name)
        guard let external = try question.container.externalData(of: question.place) else {
            return [main].compactMap(\.self)
        }
        return try [main].compactMap(\.self) + external.names().compactMap { try external.status(of: $0) }
    }
}
