/// A uniqueness constraint rejected an object because another object has the same values.
package struct UniquenessConflict: Error, Hashable, Sendable, CustomStringConvertible {
    /// The object to be written.
    package let object: ObjectKey
    /// The names of the constraint's properties; empty if the index belongs to no constraint of the model.
    package let constraint: [String]
    /// The object that has the values already; the same save may have written it.
    package let holder: ObjectKey?

    package init(object: ObjectKey, constraint: [String], holder: ObjectKey?) {
        self.object = object
        self.constraint = constraint
        self.holder = holder
    }

    package var description: String {
        "another object of \(object.entity) has the same \(constraint.joined(separator: ", "))"
    }
}
