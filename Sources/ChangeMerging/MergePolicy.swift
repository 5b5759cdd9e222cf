/// What becomes of an object that was changed here and in the store since it was read; Core Data's five policies.
///
/// Objects that are not in conflict are saved as they are under every policy. ``ThreeWayMerge`` and ``UniquenessMerge``
/// hold the tables; the cells that Core Data's documentation leaves open are our choice, and say so there.
public enum MergePolicy: String, CaseIterable, Codable, Hashable, Sendable {
    /// Nothing is saved, and the conflicts are reported.
    case error
    /// Property by property; where both sides changed one, the store's value wins.
    case mergeByPropertyStoreTrump
    /// Property by property; where both sides changed one, the value here wins.
    case mergeByPropertyObjectTrump
    /// The whole object here replaces the one in the store.
    case overwrite
    /// The whole object in the store replaces the one here.
    case rollback
}
