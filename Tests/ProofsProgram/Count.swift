/// How much of one thing was tried, and how much has to be.
struct Count: Sendable, Codable {
    var tried = 0
    var unit: String
    var gate: Int

    var isReached: Bool { tried >= gate }
    var text: String { "\(tried) \(unit), gate \(gate)" }
}
