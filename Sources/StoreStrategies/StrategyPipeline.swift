/// Strategies in their order, asked for every role.
///
/// It holds strategies to what they document, and their answers to each other: nothing is decided by who comes last.
public struct StrategyPipeline: Sendable {
    /// One strategy as it was chosen.
    public struct Step: Sendable {
        public let strategy: any StoreStrategy
        public let options: StrategyOptions

        public init(_ strategy: any StoreStrategy, options: StrategyOptions = StrategyOptions()) {
            self.strategy = strategy
            self.options = options
        }
    }

    public let steps: [Step]
    /// The programs that open the store; each once, in the order given.
    public let roles: [ProgramRole]

    /// Creates a pipeline; without roles it is asked for the app alone.
    public init(_ steps: [Step] = [], roles: [ProgramRole] = []) {
        self.steps = steps
        var seen: Set<StoreRole> = []
        self.roles = roles.isEmpty ? [ProgramRole(.app)] : roles.filter { seen.insert($0.role).inserted }
    }

    /// True when nothing was asked for beyond what the store is already.
    public var isEmpty: Bool { steps.isEmpty && roles == [ProgramRole(.app)] }

    /// Describes the store for every role, starting from `base`, and compares the descriptions.
    public func describe(
        _ facts: StoreFacts,
        from base: PersistentStoreDescription
    ) throws(StrategyError) -> [RoleDescription] {
        for step in steps { try requireKnownOptions(step) }
        var results: [RoleDescription] = []
        for role in roles { results.append(try describe(facts, role, from: base)) }
        for step in steps { try requireUse(of: step, in: results) }
        try DescriptionComparison(facts: facts, descriptions: results).requireAgreement()
        return results
    }

    private func describe(
        _ facts: StoreFacts,
        _ program: ProgramRole,
        from base: PersistentStoreDescription
    ) throws(StrategyError) -> RoleDescription {
        var description = base
        if let modelFile = program.modelFile { description.modelFile = modelFile }
        var result = RoleDescription(role: program.role, description: description)
        var setters: [DescriptionOption: (strategy: String, value: String)] = [:]
        for step in steps {
            let name = step.strategy.name
            let request = StrategyRequest(
                facts: facts,
                role: program.role,
                options: step.options,
                description: result.description
            )
            let changes: DescriptionChanges
            switch try Self.asking(step.strategy, { try $0.evaluate(request) }) {
            case .notApplicable(let reason):
                result.skipped.append(RoleDescription.Skipped(strategy: name, reason: reason))
                continue
            case .applicable: changes = try Self.asking(step.strategy) { try $0.describe(request) }
            }
            try Self.requireOffered(changes, by: step.strategy)
            for (option, value) in changes.values.sorted(by: { $0.key < $1.key }) {
                if let earlier = setters[option], earlier.value != value {
                    throw StrategyError(
                        .conflict,
                        "\(earlier.strategy) sets \(option) to \(earlier.value) and \(name) sets it to \(value), for \(program.role)"
                    )
                }
                setters[option] = (name, value)
            }
            result.description = changes.applied(to: result.description)
            result.applied.append(RoleDescription.Applied(strategy: name, changes: changes))
        }
        return result
    }

    private static func asking<Answer>(
        _ strategy: any StoreStrategy,
        _ question: (any StoreStrategy) throws -> Answer
    ) throws(StrategyError) -> Answer {
        do {
            return try question(strategy)
        } catch let error as StrategyError {
            throw error
        } catch {
            throw StrategyError(.failed, "\(strategy.name) could not answer: \(error)")
        }
    }

    private func requireKnownOptions(_ step: Step) throws(StrategyError) {
        let known = step.strategy.documentation.options.map(\.name)
        guard let strange = step.options.values.keys.filter({ !known.contains($0) }).sorted().first else { return }
        let offer = known.isEmpty ? "it has none" : "it has \(known.joined(separator: ", "))"
        throw StrategyError(.unknownOption, "\(step.strategy.name) has no option \(strange); \(offer)")
    }

    /// Throws when a strategy sets what it does not document, or what none may set.
    private static func requireOffered(
        _ changes: DescriptionChanges,
        by strategy: any StoreStrategy
    ) throws(StrategyError) {
        let offered = Set(strategy.documentation.sets)
        for option in changes.values.keys.sorted() {
            guard option.isSettable else {
                throw StrategyError(.notOffered, "\(strategy.name) sets \(option), which no strategy may set")
            }
            guard offered.contains(option) else {
                throw StrategyError(.notOffered, "\(strategy.name) sets \(option), which it does not document")
            }
        }
        if let value = changes.values[.journalMode], !["WAL", "DELETE", "TRUNCATE", "PERSIST"].contains(value) {
            throw StrategyError(
                .notOffered,
                "\(strategy.name) sets \(DescriptionOption.journalMode) to \(value), with which a crash loses the store"
            )
        }
    }

    /// Throws when a strategy that was asked for has nothing to say about any role.
    private func requireUse(of step: Step, in results: [RoleDescription]) throws(StrategyError) {
        let name = step.strategy.name
        guard !results.contains(where: { $0.applied.contains { $0.strategy == name } }),
            let skipped = results.lazy.compactMap({ $0.skipped.first { $0.strategy == name } }).first
        else { return }
        throw StrategyError(.notApplicable, "\(name) does not apply: \(skipped.reason)")
    }
}
