public import StoreFormat

/// The extent of a store's history, its authors and its consumers.
public struct HistoryOverview: Sendable {
    public let extent: HistorySummary
    /// In the order of their first transactions.
    public let authors: [HistoryAuthorSummary]
    /// The registered consumers, with the last transaction that each has acknowledged.
    public let consumers: [String: Int64]
}
