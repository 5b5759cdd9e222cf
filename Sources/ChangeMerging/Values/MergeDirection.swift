/// One of the two stores that descend from the base.
public enum MergeDirection: String, Hashable, Sendable, Codable {
    /// The store whose changes are merged into the other.
    case old
    /// The store that receives the changes, and whose keys stay.
    case shared
}
