internal import StoreStrategies

/// What a strategy said to one request.
struct Answer: Equatable, Sendable {
    let applicability: Applicability?
    /// Nil when it does not apply.
    let changes: DescriptionChanges?

    /// Asks as a pipeline asks.
    init(_ strategy: any StoreStrategy, _ request: StrategyRequest) throws {
        let applicability = try strategy.evaluate(request)
        self.applicability = applicability
        changes = applicability == .applicable ? try strategy.describe(request) : nil
    }
}
