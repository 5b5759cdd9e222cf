/// What a consumer has to deal with next, in the order in which it was posted.
public struct RelayBatch: Sendable {
    /// True when notices were dropped before this consumer had them: it is to refresh everything it holds.
    public let needsFullRefresh: Bool
    public let notices: [PostedNotice]
    /// Where the consumer stands once it has dealt with this.
    let position: Int64

    /// True when there is nothing to do.
    public var isEmpty: Bool { notices.isEmpty && !needsFullRefresh }
}
