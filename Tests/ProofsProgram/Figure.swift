/// What a harness did and found.
struct Figure: Sendable {
    /// How much was tried, of what.
    var tried = 0
    var unit: String
    /// How much has to be tried before anything counts as shown.
    var gate: Int
    /// Each with the seed or the steps that show it again.
    var violations: [String] = []
    /// What else a reader wants to know.
    var remarks: [String] = []

    var isReached: Bool { tried >= gate && violations.isEmpty }
}
