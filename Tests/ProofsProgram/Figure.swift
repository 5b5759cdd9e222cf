/// The figures and violations of a harness.
struct Figure: Sendable, Codable {
    /// The number of tries, and their unit.
    var tried = 0
    var unit: String
    /// The number of tries that a proof requires.
    var gate: Int
    /// Further kinds of tries, each with its own gate.
    var others: [Count] = []
    /// The violations, each with the seed or the steps that reproduce it.
    var violations: [String] = []
    /// Further information for the page.
    var remarks: [String] = []
    /// Why nothing was tried on this machine; nil when something was.
    var leftOut: String?

    var counts: [Count] { [Count(tried: tried, unit: unit, gate: gate)] + others }
    var isReached: Bool { counts.allSatisfy(\.isReached) && violations.isEmpty }

    /// Adds the figures of the same kind from another run.
    mutating func add(_ other: Figure, from place: String) {
        tried += other.tried
        violations += other.violations.map { "\(place): \($0)" }
        remarks += other.remarks.map { "\(place): \($0)" }
    }
}
