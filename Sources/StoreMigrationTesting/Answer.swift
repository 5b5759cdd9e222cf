internal import StoreStrategies

/// The answer of a strategy to one request.
struct Answer: Equatable, Sendable {
    let applicability: Applicability?
    /// Nil when it does not apply.
    let changes: DescriptionChanges?

    /// Calls the strategy as a pipeline does.
    init(_ strategy: any StoreStrategy, _ request: StrategyRequest) throws {
        let applicability = try strategy.evaluate(request)
        self.applicability = applicability
        changes = applicability == .applicable ? try strategy.describe(request) : nil
    }
}
