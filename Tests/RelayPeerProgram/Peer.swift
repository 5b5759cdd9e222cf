/// A role of the program.
protocol Peer: Sendable {
    /// Executes a command line and returns the answer line.
    func answer(_ words: [String]) async throws -> String
}

/// Thrown for a command that the peer does not know.
struct UnknownCommand: Error {}
