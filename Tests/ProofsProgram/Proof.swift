/// One of the harnesses: it tries what is promised, as often as it is told to, and counts how often the promise was broken.
protocol Proof: Sendable {
    /// The name by which it is chosen.
    var name: String { get }
    /// What is tried, for the page.
    var title: String { get }

    func run(_ scale: Scale) async throws -> Figure
}
