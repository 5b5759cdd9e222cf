/// A request for transactions of a store's history, in the order of their numbers.
public struct HistoryRequest: Sendable {
    public var authors: HistoryAuthors = .everybody
    /// The number of the transaction before the first result; 0 starts with the first one that was not purged.
    public var after: Int64 = 0
    /// The maximum number of results; 0 for no limit.
    public var limit = 0

    public init() {}
}
