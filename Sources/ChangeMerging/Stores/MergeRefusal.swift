/// Why two stores are not merged; nothing was written.
package enum MergeRefusal: Hashable, Sendable, CustomStringConvertible {
    /// The stores do not descend from the same one.
    case unrelated
    /// The old store ends before the base does: what it lost would be taken for deletions.
    case baseIsNewer
    /// The same store twice, and nobody knows what both came from.
    case needsBase
    /// The entity looks different in the two models.
    case modelsDiffer(entity: String)
    case cloudMirrorInBothPlaces
    /// An object that the cloud's mirror names would need another key.
    case cloudRecordNeedsAnotherKey(entity: String)
    /// Something outside the model names a table in which keys would move.
    case namedOutsideTheModel(table: String, by: String)
    /// The policy is `error`, and there are conflicts.
    case conflicts(Int)

    package var description: String {
        switch self {
        case .unrelated: "the stores do not descend from the same one: their identifiers differ"
        case .baseIsNewer: "the base is newer than the old store, whose last changes were lost"
        case .needsBase: "both stores go back to the same one: a merge needs the base, or an identity for each entity"
        case .modelsDiffer(let entity): "the entity \(entity) is not the same in the two models"
        case .cloudMirrorInBothPlaces: "both stores were mirrored to the cloud since the base"
        case .cloudRecordNeedsAnotherKey(let entity):
            "an object of \(entity) that the cloud knows would need another key"
        case .namedOutsideTheModel(let table, let other):
            "\(other), which is not of the model, names the table \(table)"
        case .conflicts(let count): "there are \(count) conflicts, and the policy settles none"
        }
    }
}
