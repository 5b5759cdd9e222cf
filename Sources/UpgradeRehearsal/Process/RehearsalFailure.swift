/// Why a rehearsal could not continue, for a reason outside the scenario.
public struct RehearsalFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What failed, and what to do where that is possible; a fragment without a final full stop.
    public let description: String

    init(_ description: String) { self.description = description }
}
