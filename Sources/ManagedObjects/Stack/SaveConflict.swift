public import ChangeMerging

/// The reason why a save under the policy `error` wrote nothing: others saved the same objects since they were read.
public struct SaveConflict: Error, Sendable, CustomStringConvertible {
    public let conflicts: [MergeConflict<ManagedObjectID, PropertyValue>]

    /// Core Data's number of this error.
    public var code: ManagedObjectError.Code { .mergeConflict }

    public var description: String {
        "others saved \(conflicts.count) of the objects since they were read; choose a merge policy, or refresh them and save "
            + "again (\(code.rawValue))"
    }
}
