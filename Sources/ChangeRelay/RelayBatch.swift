/// The next notices for a consumer, in the order of their posts.
public struct RelayBatch: Sendable {
    /// True when notices were dropped before this consumer read them: it must refresh all objects.
    public let needsFullRefresh: Bool
    public let notices: [PostedNotice]
    /// The consumer's position after it acknowledges this batch.
    let position: Int64

    /// True when the batch requires no work.
    public var isEmpty: Bool { notices.isEmpty && !needsFullRefresh }
}
