/// Which transactions of a store's history are wanted; they come in the order of their numbers.
public struct HistoryRequest: Sendable {
    public var authors: HistoryAuthors = .everybody
    /// The number after which to begin; 0 begins with the first that is kept.
    public var after: Int64 = 0
    /// How many at most; 0 is no limit.
    public var limit = 0

    public init() {}
}
