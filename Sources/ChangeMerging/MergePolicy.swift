/// How to merge an object that was changed here and in the store since it was read; Core Data's five policies.
///
/// Objects that are not in conflict are saved as they are under every policy. ``ThreeWayMerge`` has the table for those
/// that others changed or deleted. Where another object already has the unique values of one that is to be saved:
///
/// | policy | the object here is new | the object here is changed ¹ |
/// |---|---|---|
/// | error | fails | fails |
/// | mergeByPropertyStoreTrump | is discarded ¹ | reverts the unique values |
/// | mergeByPropertyObjectTrump | gives the values it was given to the other | stays; the other is deleted ² |
/// | overwrite | gives all its values to the other ¹ | stays; the other is deleted ² |
/// | rollback | is discarded ¹ | reverts all its changes |
///
/// A row that is in the store keeps its key. ¹ Our choice, where the documentation says nothing. Two new objects of one
/// save are decided in the same way, the one saved first being the other; between a new object and a changed one the table
/// for new objects applies. Values that one object of a save releases are free for the others, and no conflict.
///
/// ² Its relationships go over to the changed object first: all members of to-many relationships and all references to it;
/// of the to-one relationships those that are one-to-one and that the changed object has empty. Its own attributes go.
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
