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
        for step in steps { try step.requireKnownOptions() }
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
            let request = StrategyRequest(facts: facts, role: program.role, description: result.description)
            let answer = try step.answer(to: request)
            result.skipped += answer.skipped
            for applied in answer.applied {
                for (option, value) in applied.changes.values.sorted(by: { $0.key < $1.key }) {
                    if let earlier = setters[option], earlier.value != value {
                        throw StrategyError(
                            .conflict,
                            "\(earlier.strategy) sets \(option) to \(earlier.value) and \(applied.strategy) sets it to \(value), "
                                + "for \(program.role)"
                        )
                    }
                    setters[option] = (applied.strategy, value)
                }
            }
            result.applied += answer.applied
            result.description = answer.description
        }
        return result
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
