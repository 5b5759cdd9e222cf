/// Why two stores are not merged; nothing was written.
public enum MergeRefusal: Hashable, Sendable, Codable, CustomStringConvertible {
    /// What the refusal asks of whoever called.
    public enum Kind: String, Hashable, Sendable, Codable {
        /// The stores do not fit together.
        case incompatible
        /// Another choice would let them be merged.
        case needsDecision
        case cloudMirrorInBothPlaces
    }

    /// The stores do not descend from the same one, and nothing says which of their objects are the same.
    case unrelated
    /// The side ends before the base does: what it lost would be taken for deletions.
    case baseIsNewer(MergeDirection)
    /// The side does not descend from the base.
    case notTheBase(MergeDirection)
    /// The same store twice, and nobody knows what both came from.
    case needsBase
    /// Without a base, nothing says which rows of the table are the same: each of them would be added once more.
    case unidentified(table: String)
    /// One store is Core Data's, the other is not.
    case kindsDiffer
    /// The entity, or the table, looks so different in the stores that its changes cannot be carried.
    case modelsDiffer(entity: String, property: String?)
    case cloudMirrorInBothPlaces
    /// An object that the cloud's mirror names would need another key.
    case cloudRecordNeedsAnotherKey(entity: String)
    /// Something outside the model names a table in which keys would move.
    case namedOutsideTheModel(table: String, by: String)
    /// The old store changed something that a merge has no way to carry, such as an index or a setting of a search index.
    case notCarried(String)
    /// The policy is `error`, and there are conflicts.
    case conflicts(Int)

    public var kind: Kind {
        switch self {
        case .unrelated, .needsBase, .unidentified, .conflicts, .baseIsNewer, .notTheBase, .notCarried: .needsDecision
        case .cloudMirrorInBothPlaces, .cloudRecordNeedsAnotherKey: .cloudMirrorInBothPlaces
        case .kindsDiffer, .modelsDiffer, .namedOutsideTheModel: .incompatible
        }
    }

    public var description: String {
        switch self {
        case .unrelated:
            "the stores do not descend from the same one: name the attributes by which objects are the same (--identity)"
        case .baseIsNewer(let side): "the base is newer than the \(side.rawValue) store, whose last changes were lost"
        case .notTheBase(let side): "the \(side.rawValue) store does not descend from the base"
        case .needsBase: "both stores go back to the same one: a merge needs the base, or an identity for each entity"
        case .unidentified(let table):
            "nothing says which rows of the table \(table) are the same: a merge needs the base (--base), or the columns "
                + "that identify a row (--identity \(table)=COLUMN)"
        case .kindsDiffer: "only one of the stores is Core Data's"
        case .modelsDiffer(let entity, let property):
            "\(entity)\(property.map { "." + $0 } ?? "") is not the same in the stores"
        case .cloudMirrorInBothPlaces: "both stores were mirrored to the cloud since the base"
        case .cloudRecordNeedsAnotherKey(let entity):
            "an object of \(entity) that the cloud knows would need another key"
        case .namedOutsideTheModel(let table, let other):
            "\(other), which is not of the model, names the table \(table)"
        case .notCarried(let part): "\(part) was changed in the old store, and a merge cannot carry that"
        case .conflicts(let count): "there are \(count) conflicts, and the policy settles none"
        }
    }
}
