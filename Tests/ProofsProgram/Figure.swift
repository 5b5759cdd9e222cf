/// What a harness did and found.
struct Figure: Sendable, Codable {
    /// How much was tried, of what.
    var tried = 0
    var unit: String
    /// How much has to be tried before anything counts as shown.
    var gate: Int
    /// What else was tried, each with a gate of its own: much of the one makes up for none of the other.
    var others: [Count] = []
    /// Each with the seed or the steps that show it again.
    var violations: [String] = []
    /// What else a reader wants to know.
    var remarks: [String] = []
    /// Why nothing was tried, where this machine does not grant what that needs.
    var leftOut: String?

    var counts: [Count] { [Count(tried: tried, unit: unit, gate: gate)] + others }
    var isReached: Bool { counts.allSatisfy(\.isReached) && violations.isEmpty }

    /// Adds what was done and found of the same kind elsewhere.
    mutating func add(_ other: Figure, from place: String) {
        tried += other.tried
        violations += other.violations.map { "\(place): \($0)" }
        remarks += other.remarks.map { "\(place): \($0)" }
    }
}
