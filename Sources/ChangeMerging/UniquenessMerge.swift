/// Decides between an object to be saved and the object that already has its unique values.
///
/// ``MergePolicy`` contains the table.
package struct UniquenessMerge<Value: Hashable & Sendable>: Sendable {
    /// How to resolve the collision.
    package enum Outcome: Hashable, Sendable {
        /// Nothing is saved, and the conflict is reported.
        case fail
        /// The new object is not inserted; the other one replaces it from now on.
        case discard
        /// The new object is not inserted; the other one takes these values and replaces it from now on.
        case give([String: Value])
        /// The changed object reverts to these values, which it had before.
        case revert([String: Value])
        /// The other object is deleted, with its cascades, and then the changed one is saved.
        case deleteOther
    }

    /// The names of the constraint's properties.
    package let constraint: [String]
    /// The object's values before the change; nil for a new object.
    package let base: [String: Value]?
    /// The values that were set; for a new object without untouched defaults.
    package let given: [String: Value]
    /// All values of the object.
    package let values: [String: Value]

    package init(constraint: [String], base: [String: Value]?, given: [String: Value], values: [String: Value]) {
        self.constraint = constraint
        self.base = base
        self.given = given
        self.values = values
    }

    package func outcome(by policy: MergePolicy) -> Outcome {
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
