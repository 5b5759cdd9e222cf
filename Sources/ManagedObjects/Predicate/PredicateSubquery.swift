/// The objects of a to-many relationship for which a predicate holds; all that can be asked of them is how many they are.
struct PredicateSubquery: Hashable, Sendable {
    /// The path to the relationship.
    let collection: [String]
    /// What the predicate calls one of the objects, without the `$`.
    let variable: String
    let predicate: PredicateNode
}
