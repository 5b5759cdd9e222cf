public import FoundationEssentials

/// A notice in the queue.
public struct PostedNotice: Sendable, Hashable {
    /// Its place in the queue; it only grows, and gaps mean nothing.
    public let sequence: Int64
    public let posted: Date
    public let notice: ChangeNotice
}
