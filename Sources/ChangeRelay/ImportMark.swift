/// How far the payloads of one source were taken over.
struct ImportMark {
    let entries: Int
    /// Of these entries.
    let digest: String
    /// The place of the last notice; nil for the one that is being posted.
    let sequence: Int64?
}
