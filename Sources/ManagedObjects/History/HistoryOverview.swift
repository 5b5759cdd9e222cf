public import StoreFormat

/// What a store's history amounts to, and who depends on it.
public struct HistoryOverview: Sendable {
    public let extent: HistorySummary
    /// In the order of their first transactions.
    public let authors: [HistoryAuthorSummary]
    /// The registered consumers, with the last transaction that each has dealt with.
    public let consumers: [String: Int64]
}
