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
