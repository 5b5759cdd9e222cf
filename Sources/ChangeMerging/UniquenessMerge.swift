/// Decides between an object that is to be saved and the one that already has its unique values.
///
/// ``MergePolicy`` holds the table.
package struct UniquenessMerge<Value: Hashable & Sendable>: Sendable {
    /// What is to be done.
    package enum Outcome: Hashable, Sendable {
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
    package let constraint: [String]
    /// The object's values before the change; nil for a new object.
    package let base: [String: Value]?
    /// The values that the object was given: for a new one without the defaults that nobody touched.
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
