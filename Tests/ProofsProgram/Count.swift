/// The number of tries of one kind, and the required number.
struct Count: Sendable, Codable {
    var tried = 0
    var unit: String
    var gate: Int

    var isReached: Bool { tried >= gate }
    var text: String { "\(tried) \(unit), gate \(gate)" }
}
