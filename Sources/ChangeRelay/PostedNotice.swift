public import FoundationEssentials

/// A notice in the queue.
public struct PostedNotice: Sendable, Hashable {
    /// The sequence number in the queue.
    ///
    /// It only grows, and may have gaps.
    public let sequence: Int64
    public let posted: Date
    public let notice: ChangeNotice
}
