/// The extent of a store's persistent history.
public struct HistorySummary: Hashable, Sendable, Codable {
    public let transactions: Int64
    public let changes: Int64
    /// The number of the first transaction; nil if there is none.
    public let first: Int64?
    /// The number of the last transaction; nil if there is none.
    public let last: Int64?

    public init(transactions: Int64, changes: Int64, first: Int64?, last: Int64?) {
        self.transactions = transactions
        self.changes = changes
        self.first = first
        self.last = last
    }
}

/// One author's transactions, as far as they are still in a store's history.
public struct HistoryAuthorSummary: Hashable, Sendable, Codable {
    /// Nil for the transactions without an author.
    public let name: String?
    public let transactions: Int64
    public let changes: Int64
    /// The number of the author's first transaction.
    public let first: Int64
    /// The number of the author's last transaction.
    public let last: Int64

    public init(name: String?, transactions: Int64, changes: Int64, first: Int64, last: Int64) {
        self.name = name
        self.transactions = transactions
        self.changes = changes
        self.first = first
        self.last = last
    }
}
