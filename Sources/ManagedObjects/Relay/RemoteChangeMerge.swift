public import StoreFormat

/// The outcome of merging other processes' saves into a container.
public struct RemoteChangeMerge: Sendable, Hashable {
    /// The notices of the relay that were merged.
    public var notices = 0
    /// The transactions of history that were merged.
    public var transactions = 0
    /// True after a full refresh: a commit had no notice, or more was missed than the relay keeps.
    public var isFullRefresh = false
    /// Problems in imported payloads.
    public var findings: [Finding] = []
    /// True when a commit may still get its notice.
    var isUnsettled = false

    /// True when nothing was merged.
    public var isEmpty: Bool { notices == 0 && transactions == 0 && !isFullRefresh }

    mutating func add(_ other: RemoteChangeMerge) {
        notices += other.notices
        transactions += other.transactions
        isFullRefresh = isFullRefresh || other.isFullRefresh
        findings += other.findings
        isUnsettled = isUnsettled || other.isUnsettled
    }
}
