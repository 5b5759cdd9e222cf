/// All violations of the contract by a strategy, each once.
public struct StrategyComplianceFailure: Error, Sendable, CustomStringConvertible {
    public let strategy: String
    public private(set) var violations: [String] = []

    init(strategy: String) { self.strategy = strategy }

    mutating func add(_ violation: String) {
        if !violations.contains(violation) { violations.append(violation) }
    }

    public var description: String {
        "\(strategy) violates the contract:" + violations.map { "\n- \($0)" }.joined()
    }
}
