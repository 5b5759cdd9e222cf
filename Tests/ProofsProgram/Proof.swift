/// A harness, which tries a guarantee a given number of times and counts the violations.
protocol Proof: Sendable {
    /// The name on the command line.
    var name: String { get }
    /// The guarantee, for the page.
    var title: String { get }

    func run(_ scale: Scale) async throws -> Figure
}
