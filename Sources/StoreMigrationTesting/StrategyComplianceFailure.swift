/// Everything about a strategy that does not hold, each once.
public struct StrategyComplianceFailure: Error, Sendable, CustomStringConvertible {
    public let strategy: String
    public private(set) var violations: [String] = []

    init(strategy: String) { self.strategy = strategy }

    mutating func add(_ violation: String) {
        if !violations.contains(violation) { violations.append(violation) }
    }

    public var description: String {
        "\(strategy) does not keep the contract:" + violations.map { "\n- \($0)" }.joined()
    }
}
