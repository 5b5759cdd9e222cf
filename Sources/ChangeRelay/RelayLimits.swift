/// How much a queue keeps for consumers that stay away.
public struct RelayLimits: Sendable, Hashable {
    /// With more notices than this, the oldest are dropped even if consumers have not read them.
    public var mostNotices: Int64
    /// A consumer that leaves a notice unread for longer than this no longer keeps notices in the queue.
    public var longestDelay: Duration

    public init(mostNotices: Int64 = 100_000, longestDelay: Duration = .seconds(7 * 86_400)) {
        self.mostNotices = mostNotices
        self.longestDelay = longestDelay
    }
}
