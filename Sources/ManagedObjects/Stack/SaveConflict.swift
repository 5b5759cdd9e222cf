public import ChangeMerging

/// The reason why a save under the policy `error` wrote nothing: others saved the same objects since they were read.
public struct SaveConflict: Error, Sendable, CustomStringConvertible {
    public let conflicts: [MergeConflict<ManagedObjectID, PropertyValue>]

    /// Core Data's number of this error.
    public var code: ManagedObjectError.Code { .mergeConflict }

    public var description: String {
        "others saved \(conflicts.count) of the objects since they were read\(contested); choose a merge policy, or refresh them and save "
            + "again (\(code.rawValue))"
    }

    /// The properties that both sides changed, where there are any.
    private var contested: String {
        let names = conflicts.flatMap { conflict in
            conflict.merge.contestedProperties.map { "\(conflict.object.entityName).\($0)" }
        }
        return names.isEmpty ? "" : " (both changed \(Set(names).sorted().joined(separator: ", ")))"
    }
}
