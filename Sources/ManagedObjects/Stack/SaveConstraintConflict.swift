/// A save under the policy `error` failed without writing: another object has the same unique values.
public struct SaveConstraintConflict: Error, Sendable, CustomStringConvertible {
    /// The object that could not be saved.
    public let objectID: ManagedObjectID
    /// The names of the constraint's properties.
    public let constraint: [String]
    /// The object that has the values, if it is in the store.
    public let databaseObjectID: ManagedObjectID?

    /// Core Data's number of this error.
    public var code: ManagedObjectError.Code { .constraintConflict }

    public var description: String {
        "another \(objectID.entityName) has the same \(constraint.joined(separator: ", ")) (\(code.rawValue))"
    }
}
