/// Decides between an object that is to be saved and the one that already has its unique values.
///
/// | policy | the object here is new | the object here is changed ¹ |
/// |---|---|---|
/// | error | fails | fails |
/// | mergeByPropertyStoreTrump | is discarded ¹ | takes back the unique values |
/// | mergeByPropertyObjectTrump | gives the values it was given to the other | stays; the other is deleted ² |
/// | overwrite | gives all its values to the other ¹ | stays; the other is deleted ² |
/// | rollback | is discarded ¹ | takes back all that was changed |
///
/// A row that is in the store keeps its key. ¹ Our choice, where the documentation says nothing. Two new objects of one
/// save are decided in the same way, the one saved first being the other; between a new object and a changed one the table
/// for new objects holds. Values that one object of a save lets go are free for the others, and no conflict.
///
/// ² Its relationships go over to the changed object first: all members of to-many relationships and whatever leads to it;
/// of the to-one relationships those that are one-to-one and that the changed object has empty. Its own attributes go.
public struct UniquenessMerge<Value: Hashable & Sendable>: Sendable {
    /// What is to be done.
    public enum Outcome: Hashable, Sendable {
        /// Nothing at all is saved, and the conflict is reported.
        case fail
        /// The new object is not inserted; the other stands for it from now on.
        case discard
        /// The new object is not inserted; the other takes these values and stands for it from now on.
        case give([String: Value])
        /// The changed object takes these values, which it had before, instead of those it was given.
        case revert([String: Value])
        /// The other object is deleted, with all that follows from it, and then the changed one is saved.
        case deleteOther
    }

    /// The names of the constraint's properties.
    public let constraint: [String]
    /// The object's values before the change; nil for a new object.
    public let base: [String: Value]?
    /// The values that the object was given: for a new one without the defaults that nobody touched.
    public let given: [String: Value]
    /// All values of the object.
    public let values: [String: Value]

    public init(constraint: [String], base: [String: Value]?, given: [String: Value], values: [String: Value]) {
        self.constraint = constraint
        self.base = base
        self.given = given
        self.values = values
    }

    public func outcome(by policy: MergePolicy) -> Outcome {
        guard let base else {
            return switch policy {
            case .error: .fail
            case .mergeByPropertyStoreTrump, .rollback: .discard
            case .mergeByPropertyObjectTrump: .give(given)
            case .overwrite: .give(values)
            }
        }
        return switch policy {
        case .error: .fail
        case .mergeByPropertyStoreTrump: .revert(base.filter { constraint.contains($0.key) && given[$0.key] != nil })
        case .rollback: .revert(base.filter { given[$0.key] != nil })
        case .mergeByPropertyObjectTrump, .overwrite: .deleteOther
        }
    }
}
