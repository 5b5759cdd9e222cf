/// What a rehearsal asks a process that writes for it; one line of JSON.
enum ProcessRequest: Codable {
    /// One transaction of these statements.
    case execute([String])
    case holdReader
    case holdWriteLock
    /// Goes on until the next request; answered once so many rounds are done, or one is refused.
    case repeatSQL(String, after: Int64)
    case save(ContextChanges)
    /// Ends what it does, and itself.
    case stop
}

/// What that process answers.
struct ProcessAnswer: Codable {
    /// Why it was not done; nil when it was.
    var refusal: String?
}
