/// One transaction of a store's persistent history.
package struct HistoryTransaction: Hashable, Sendable {
    /// Its number, which history tokens count.
    package let number: Int64
    /// When it was committed, in seconds since 2001-01-01T00:00:00Z.
    package let timestamp: Double?
    package let author: String?
    package let contextName: String?
    package let bundleID: String?
    /// The name of the process, despite this property's name.
    package let processID: String?
}
