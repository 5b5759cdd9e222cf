/// Why two stores are not merged.
///
/// A refused merge writes nothing.
public enum MergeRefusal: Hashable, Sendable, Codable, CustomStringConvertible {
    /// What the caller can do about the refusal.
    public enum Kind: String, Hashable, Sendable, Codable {
        /// The stores do not match.
        case incompatible
        /// Other settings would permit the merge.
        case needsDecision
        case cloudMirrorInBothPlaces
    }

    /// The base is not the common ancestor of both stores.
    case unrelated
    /// The stores have no common ancestor, and no identity says which objects of these entities are the same.
    case unidentifiedEntities([String])
    /// The side ends before the base does: its lost changes would look like deletions.
    case baseIsNewer(MergeDirection)
    /// The side does not descend from the base.
    case notTheBase(MergeDirection)
    /// Two copies of one store, without the base that they share, and without an identity for these entities.
    case needsBase(entities: [String])
    /// Without a base, the rows of the table have no identity: the merge would duplicate each of them.
    case unidentified(table: String)
    /// Only one of the stores is a Core Data store.
    case kindsDiffer
    /// The entity or table differs so much between the stores that its changes cannot be carried.
    case modelsDiffer(entity: String, property: String?)
    case cloudMirrorInBothPlaces
    /// An object that the CloudKit mirror refers to would need another key.
    case cloudRecordNeedsAnotherKey(entity: String)
    /// A definition outside the model names a table in which keys would change.
    case namedOutsideTheModel(table: String, by: String)
    /// The table is defined differently in the two stores, because this side or both changed its definition.
    case definitionsDiffer(table: String, changed: MergeDirection)
    /// The old store changed a part that a merge cannot carry, such as an index or a setting of a search index.
    case notCarried(String)
    /// Both stores refer to an external file of this name, which differs between them.
    case externalFileDiffers(String)
    /// The policy is `error`, and there are conflicts.
    case conflicts(Int)

    public var kind: Kind {
        switch self {
        case .unrelated, .unidentifiedEntities, .needsBase, .unidentified, .conflicts, .baseIsNewer, .notTheBase,
            .notCarried,
            .externalFileDiffers:
            .needsDecision
        case .cloudMirrorInBothPlaces, .cloudRecordNeedsAnotherKey: .cloudMirrorInBothPlaces
        case .kindsDiffer, .modelsDiffer, .namedOutsideTheModel: .incompatible
        case .definitionsDiffer(_, let side): side == .old ? .incompatible : .needsDecision
        }
    }

    /// The entities or tables for which an identity would permit the merge.
    public var unidentified: [String] {
        switch self {
        case .unidentifiedEntities(let entities), .needsBase(let entities): entities
        case .unidentified(let table): [table]
        default: []
        }
    }

    public var description: String {
        switch self {
        case .unrelated: "the base is not the common ancestor of both stores"
        case .unidentifiedEntities:
            "the stores have no common ancestor: name as identity the attributes by which objects are the same"
        case .baseIsNewer(let side): "the base is newer than the \(side.rawValue) store, whose last changes were lost"
        case .notTheBase(let side): "the \(side.rawValue) store does not descend from the base"
        case .needsBase: "the stores have a common ancestor: a merge needs the base, or an identity for each entity"
        case .unidentified(let table):
            "the rows of the table \(table) have no identity: a merge needs the base, or as identity the columns by which "
                + "its rows are the same"
        case .kindsDiffer: "only one of the stores is Core Data's"
        case .modelsDiffer(let entity, let property):
            "\(entity)\(property.map { "." + $0 } ?? "") differs between the stores"
        case .definitionsDiffer(let table, .old):
            "the old store changed the definition of the table \(table), and the shared store defines it differently"
        case .definitionsDiffer(let table, .shared):
            "the shared store changed the definition of the table \(table), so rows that the old store changed in it"
                + " cannot be carried"
        case .cloudMirrorInBothPlaces: "both stores were mirrored to the cloud since the base"
        case .cloudRecordNeedsAnotherKey(let entity):
            "an object of \(entity) that has a CloudKit record would need another key"
        case .namedOutsideTheModel(let table, let other):
            "\(other), which is not of the model, names the table \(table)"
        case .notCarried(let part): "\(part) was changed in the old store, and a merge cannot carry the change"
        case .externalFileDiffers(let name):
            "the external file \(name), which both stores refer to, differs between them"
        case .conflicts(let count): "the policy leaves \(count) conflict\(count == 1 ? "" : "s") undecided"
        }
    }
}
