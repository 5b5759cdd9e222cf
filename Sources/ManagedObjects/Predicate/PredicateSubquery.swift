/// The objects of a to-many relationship that match a predicate; only their count is available.
struct PredicateSubquery: Hashable, Sendable {
    /// The path to the relationship.
    let collection: [String]
    /// The predicate's variable for one of the objects, without the `$`.
    let variable: String
    let predicate: PredicateNode
}
