/// One of the two stores that went on from the base.
public enum MergeDirection: String, Hashable, Sendable, Codable {
    /// The one whose changes are brought over.
    case old
    /// The one that takes them, and whose keys stay.
    case shared
}
