public import StoreStrategies

/// The writing side of a merge probe: another coordinator, or another process.
public protocol ProbeWriter: Sendable {
    /// Its name in reports, such as `another process`.
    var name: String { get }

    /// Opens the scratch store with a role's description.
    func begin(with description: PersistentStoreDescription) throws -> any ProbeSession
}

/// One scratch store, open for writing.
public protocol ProbeSession {
    /// Executes one step in one save; the answer lists changes that were refused, and the others are saved.
    func carryOut(_ step: ProbeStep) throws -> ProbeAnswer

    /// Closes the store and ends the session.
    func end() throws
}
