/// Strategies in their order, asked for every role.
///
/// It checks answers against the strategies' documentation and against each other: a later strategy never silently
/// overrides an earlier one.
public struct StrategyPipeline: Sendable {
    /// One strategy with its options: a value, however it was chosen.
    ///
    /// Built-in strategies are written `.writeAheadLog` or `.sharedAccess(mode: 0o660)`; text from a command line or a
    /// configuration becomes the same values through ``StrategySelection``.
    public struct Step: Sendable {
        public let strategy: any StoreStrategy
        public let options: StrategyOptions

        public init(_ strategy: any StoreStrategy, options: StrategyOptions = StrategyOptions()) {
            self.strategy = strategy
            self.options = options
        }

        /// The name and the options.
        public var selection: StrategySelection { StrategySelection(name: strategy.name, options: options) }
    }

    public let steps: [Step]
    /// The programs that open the store; each once, in the order given.
    public let roles: [ProgramRole]
    /// A role that was given with two models.
    private let twofold: StoreRole?

    /// Creates a pipeline, as `StrategyPipeline([.writeAheadLog, .historyTracking], roles: [.app, .extension("widget")])`; without roles it is asked for the app alone.
    ///
    /// A role that is given twice counts once and keeps its model; with two models nothing can be described.
    public init(_ steps: [Step] = [], roles: [ProgramRole] = []) {
        self.steps = steps
        var merged: [ProgramRole] = []
        var twofold: StoreRole?
        for role in roles {
            guard let index = merged.firstIndex(where: { $0.role == role.role }) else {
                merged.append(role)
                continue
            }
            guard let model = role.modelFile else { continue }
            if merged[index].modelFile ?? model != model { twofold = role.role }
            merged[index].modelFile = model
        }
        self.roles = merged.isEmpty ? [ProgramRole(.app)] : merged
        self.twofold = twofold
    }

    /// True when no strategy and no other role was requested.
    public var isEmpty: Bool { steps.isEmpty && roles == [ProgramRole(.app)] }

    /// Describes the store for every role, starting from `base`, and compares the descriptions; several roles get names for
    /// the notifications that they post and observe on Apple's platforms.
    public func describe(
        _ facts: StoreFacts,
        from base: PersistentStoreDescription
    ) throws(StrategyError) -> [RoleDescription] {
        if let twofold {
            throw StrategyError(
                .disagreement,
                "\(twofold) is named with two models, and a program carries one",
                recoverySuggestion: "Name the role once."
            )
        }
        for step in steps { try step.requireKnownOptions() }
        var results: [RoleDescription] = []
        var uses = steps.map { _ in Use() }
        for role in roles { results.append(try describe(facts, role, from: base, &uses)) }
        for (step, use) in zip(steps, uses) where !use.isApplied {
            guard let reason = use.reason else { continue }
            throw StrategyError(.notApplicable, "\(step.strategy.name) does not apply: \(reason)")
        }
        try DescriptionComparison(facts: facts, descriptions: results).requireAgreement()
        return RoleDescription.naming(results)
    }

    /// The results of one step over all roles.
    private struct Use {
        var isApplied = false
        /// The reason of the first role that it did not apply to.
        var reason: String?
    }

    private func describe(
        _ facts: StoreFacts,
        _ program: ProgramRole,
        from base: PersistentStoreDescription,
        _ uses: inout [Use]
    ) throws(StrategyError) -> RoleDescription {
        var description = base
        if let modelFile = program.modelFile { description.modelFile = modelFile }
        var result = RoleDescription(role: program.role, description: description)
        var setters: [DescriptionOption: (strategy: String, value: String)] = [:]
        for (index, step) in steps.enumerated() {
            let request = StrategyRequest(facts: facts, role: program.role, description: result.description)
            let answer = try step.answer(to: request)
            result.skipped += answer.skipped
            if !answer.applied.isEmpty { uses[index].isApplied = true }
            uses[index].reason = uses[index].reason ?? answer.skipped.first?.reason
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
}

/// Steps are equal if they choose strategies of the same name with the same options.
extension StrategyPipeline.Step: Hashable {
    public static func == (left: Self, right: Self) -> Bool { left.selection == right.selection }
    public func hash(into hasher: inout Hasher) { hasher.combine(selection) }
}

extension StrategyPipeline.Step: CustomStringConvertible {
    /// The written form, as `SharedAccess:group=habits,mode=0660`.
    public var description: String { selection.description }
}

extension StrategyPipeline.Step {
    /// Asks the strategy one question, and checks the answer against its documentation.
    ///
    /// Throws ``StrategyError`` for options that it does not have, and for what it may not set. `request` is asked with the
    /// options of this step.
    public func answer(to request: StrategyRequest) throws(StrategyError) -> RoleDescription {
        try requireKnownOptions()
        var request = request
        request.options = options
        var result = RoleDescription(role: request.role, description: request.description)
        switch try asking({ strategy in try strategy.evaluate(request) }) {
        case .notApplicable(let reason):
            result.skipped.append(RoleDescription.Skipped(strategy: strategy.name, reason: reason))
        case .applicable:
            let changes = try asking { strategy in try strategy.describe(request) }
            try requireOffered(changes)
            result.description = changes.applied(to: request.description)
            result.applied.append(RoleDescription.Applied(strategy: strategy.name, changes: changes))
        }
        return result
    }

    private func asking<Answer>(
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

    func requireKnownOptions() throws(StrategyError) {
        let known = strategy.documentation.options.map(\.name)
        guard let strange = options.values.keys.filter({ !known.contains($0) }).sorted().first else { return }
        let offer = known.isEmpty ? "it has none" : "it has \(known.joined(separator: ", "))"
        throw StrategyError(.unknownOption, "\(strategy.name) has no option \(strange); \(offer)")
    }

    /// Throws when the strategy sets what it does not document, or what no strategy may set.
    private func requireOffered(_ changes: DescriptionChanges) throws(StrategyError) {
        // Checked first: only sound values are safe to print.
        if let objection = changes.objection {
            throw StrategyError(
                .notOffered,
                "\(strategy.name) sets \(objection.option) to \(objection.value); \(objection.reason)"
            )
        }
        let offered = Set(strategy.documentation.sets)
        for option in changes.values.keys.sorted() {
            guard option.isSettable else {
                throw StrategyError(.notOffered, "\(strategy.name) sets \(option), which no strategy may set")
            }
            guard offered.contains(option) else {
                let hint =
                    offered.contains(.allPragmas) && option.pragmaName != nil
                    ? ": it names sqlitePragmas as a whole; list each pragma as sqlitePragmas.<name>" : ""
                throw StrategyError(.notOffered, "\(strategy.name) sets \(option), which it does not document\(hint)")
            }
        }
    }
}
