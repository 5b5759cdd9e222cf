/// How far the payloads of one source were taken over.
struct ImportMark {
    let entries: Int
    /// Of these entries.
    let digest: String
    /// What tells the file, as it was, from what lies there later with the same entries.
    let state: String
    /// The place of the first notice; nil for the one that is being posted.
    var first: Int64?
    /// The place of the last notice; nil for the one that is being posted.
    var sequence: Int64?
}
