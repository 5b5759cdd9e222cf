/// How many payloads of one source are imported.
struct ImportMark {
    let entries: Int
    /// The digest of these entries.
    let digest: String
    /// The file's state, which distinguishes it from a rewritten file with the same entries.
    let state: String
    /// The sequence number of the first notice; nil for the notice that is being posted.
    var first: Int64?
    /// The sequence number of the last notice; nil for the notice that is being posted.
    var sequence: Int64?
}
