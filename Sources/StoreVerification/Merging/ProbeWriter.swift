public import StoreStrategies

/// The writing side of a merge probe: another coordinator, or another process, as its maker likes.
public protocol ProbeWriter: Sendable {
    /// What reports call it, such as `another process`.
    var name: String { get }

    /// Opens the scratch store as a role's description says.
    func begin(with description: PersistentStoreDescription) throws -> any ProbeSession
}

/// One scratch store, open for writing.
public protocol ProbeSession {
    /// Carries out one step in one save; what cannot be done is told, and the rest is done.
    func carryOut(_ step: ProbeStep) throws -> ProbeAnswer

    /// Closes the store; the session is of no use any more.
    func end() throws
}
