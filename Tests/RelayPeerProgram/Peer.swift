/// One of the roles that the program plays.
protocol Peer: Sendable {
    /// Does what a line asks for, and answers with one.
    func answer(_ words: [String]) async throws -> String
}

/// What a peer says to a line that it does not understand.
struct UnknownCommand: Error {}
