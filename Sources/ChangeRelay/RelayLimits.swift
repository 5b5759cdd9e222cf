/// How much a queue keeps for consumers that do not come.
public struct RelayLimits: Sendable, Hashable {
    /// Of more notices than this the oldest are dropped, whoever has not had them.
    public var mostNotices: Int64
    /// A consumer that left a notice lying for so long is not waited for.
    public var longestDelay: Duration

    public init(mostNotices: Int64 = 100_000, longestDelay: Duration = .seconds(7 * 86_400)) {
        self.mostNotices = mostNotices
        self.longestDelay = longestDelay
    }
}
