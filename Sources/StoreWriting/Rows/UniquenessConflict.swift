/// A uniqueness constraint refused an object: another one has the same values.
package struct UniquenessConflict: Error, Hashable, Sendable, CustomStringConvertible {
    /// The object that was to be written.
    package let object: ObjectKey
    /// The names of the constraint's properties; empty when the index that refused it belongs to no constraint of the model.
    package let constraint: [String]
    /// The object that has the values already; it may be one that the same save wrote.
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
