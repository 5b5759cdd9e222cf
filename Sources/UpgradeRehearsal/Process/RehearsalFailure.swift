/// Why a rehearsal could not go on, for a reason that is none of the scenario's.
public struct RehearsalFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong, and what to do where something can be done; a fragment without a final full stop.
    public let description: String

    init(_ description: String) { self.description = description }
}
