import StoreAccess
public import StoreFormat

/// The result of executing a planned merge.
package struct MergeResult: Hashable, Sendable {
    package enum Outcome: String, Hashable, Sendable, Codable {
        /// The old side had no changes: nothing was written.
        case nothingToDo
        /// The shared store already contains this merge: nothing was written.
        case alreadyDone
        case merged
    }

    package let outcome: Outcome
    /// The number of the merge's transaction in history; nil where the store keeps none.
    package let historyTransaction: Int64?

    /// The planned changes that were not made, because constraints of the shared store rejected the rows.
    package let rejections: [MergeRejection]

    package init(_ outcome: Outcome, historyTransaction: Int64? = nil, rejections: [MergeRejection] = []) {
        self.outcome = outcome
        self.historyTransaction = historyTransaction
        self.rejections = rejections
    }
}

/// A planned change that a constraint of the shared store rejected while the merge was written: the row is parked.
package struct MergeRejection: Hashable, Sendable {
    enum Change: Hashable, Sendable {
        case inserted, restored, updated
    }

    let change: Change
    let table: String

    init(of change: Change, in table: String) {
        self.change = change
        self.table = table
    }
}

extension MergeSummary {
    /// The summary of the executed merge: rejected changes count as parked rows, with one note for each table.
    package func excluding(_ rejections: [MergeRejection]) -> MergeSummary {
        var result = self
        var rejected: [String: Int] = [:]
        for rejection in rejections {
            var counts = result.entities[rejection.table] ?? Counts()
            switch rejection.change {
            case .inserted:
                counts.inserted -= 1
                result.inserted -= 1
            case .restored:
                counts.restored -= 1
                result.restored -= 1
            case .updated:
                counts.updated -= 1
                result.updated -= 1
            }
            result.entities[rejection.table] = counts == Counts() ? nil : counts
            result.parked += 1
            rejected[rejection.table, default: 0] += 1
        }
        for (table, count) in rejected.sorted(by: { $0.key < $1.key }) {
            result.notes.append(MergeNote(.constraintRejected, entity: table, count: count))
        }
        return result
    }
}

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

/// A merge that is refused.
struct RefusedMerge: PlannedMerge {
    let summary: MergeSummary
    let account: MergeAccount? = nil
    private let path: String

    init(_ refusal: MergeRefusal, path: String) {
        var summary = MergeSummary()
        summary.refusals = [refusal]
        self.summary = summary
        self.path = path
    }

    func forEachRekeyedObject(_ body: (RekeyedObject) throws -> Void) {}

    func carryOut(_ run: MergeRun) throws -> MergeResult { throw summary.refusal(path: path) }
}

extension MergeSummary {
    /// The error for a caller that executes a refused merge.
    func refusal(path: String) -> StoreError {
        StoreError(.incompatible, path: path, refusals.map(\.description).joined(separator: "; "))
    }
}

/// An automatic decision of a merge that a user may want to know.
public struct MergeNote: Hashable, Sendable, Codable {
    public enum Kind: String, Hashable, Sendable, Codable {
        /// Objects that one side deleted stay, because the other side changed them.
        case editSurvivedDeletion
        /// The policy is `newest`, and history does not record when values were set.
        case timesUnknown
        /// Both stores have objects of the entity, and nothing says which of them are the same: all of the old store's
        /// are inserted.
        case unidentified
        /// The shared store lacks a property that the old side changed; its rows are parked.
        case propertyLacking
        /// The table's triggers did not fire: their effects on the old side are merged like any other change.
        case triggersHeldBack
        /// A search index over other tables was rebuilt.
        case indexRebuilt
        /// A search index keeps no texts, and lacks the merged rows.
        case indexNotFollowed
        /// A constraint that only the shared store enforces rejected rows of the old store; they are parked.
        case constraintRejected
    }

    public let kind: Kind
    public let entity: String
    public let property: String?
    /// The number of occurrences.
    public var count: Int

    package init(_ kind: Kind, entity: String, property: String? = nil, count: Int) {
        self.kind = kind
        self.entity = entity
        self.property = property
        self.count = count
    }
}

/// An object of the old side that the shared store has under another key.
public struct RekeyedObject: Hashable, Sendable, Codable {
    public let entity: String
    public let old: ObjectURI
    public let new: ObjectURI
    public let reason: RekeyingReason

    public init(entity: String, old: ObjectURI, new: ObjectURI, reason: RekeyingReason) {
        self.entity = entity
        self.old = old
        self.new = new
        self.reason = reason
    }
}

/// Why the key of an object changed.
public enum RekeyingReason: String, Hashable, Sendable, Codable {
    /// The shared store assigned the key to another object.
    case newKey
    /// Both stores contain the same object, by its unique or identifying values.
    case sameObject
}
