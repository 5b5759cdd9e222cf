public import StoreFormat

/// What a container took in of what others saved.
public struct RemoteChangeMerge: Sendable, Hashable {
    /// The notices of the relay that were merged.
    public var notices = 0
    /// The transactions of history that were merged.
    public var transactions = 0
    /// True when everything was refreshed: somebody wrote who told nobody what, or more was missed than is kept.
    public var isFullRefresh = false
    /// What was odd about payloads that were taken over.
    public var findings: [Finding] = []
    /// True when there is a commit that may be told of in a moment.
    var isUnsettled = false

    /// True when nothing was there to take in.
    public var isEmpty: Bool { notices == 0 && transactions == 0 && !isFullRefresh }

    mutating func add(_ other: RemoteChangeMerge) {
        notices += other.notices
        transactions += other.transactions
        isFullRefresh = isFullRefresh || other.isFullRefresh
        findings += other.findings
        isUnsettled = isUnsettled || other.isUnsettled
    }
}
