/// A request of the rehearsal to a process that writes for it; one line of JSON.
enum ProcessRequest: Codable {
    /// One transaction of these statements.
    case execute([String])
    case holdReader
    case holdWriteLock
    /// Repeats until the next request; answered after `after` rounds, or when one is refused.
    case repeatSQL(String, after: Int64)
    case save(ContextChanges)
    /// Stops the work and exits.
    case stop
}

/// The process's answer.
struct ProcessAnswer: Codable {
    /// Why the request failed; nil when it succeeded.
    var refusal: String?
}
