/// A harness, which tries a guarantee a given number of times and counts the violations.
protocol Proof: Sendable {
    /// The name on the command line.
    var name: String { get }
    /// The guarantee, for the page.
    var title: String { get }
    /// True if a soak tries a fixed number; other harnesses use all the time that they get.
    var isCounted: Bool { get }

    func run(_ scale: Scale) async throws -> Figure
}

extension Proof {
    var isCounted: Bool { false }
}
