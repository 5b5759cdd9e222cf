public import ChangeMerging

/// A save under the policy `error` failed without writing: the same objects were saved elsewhere since they were read.
public struct SaveConflict: Error, Sendable, CustomStringConvertible {
    public let conflicts: [MergeConflict<ManagedObjectID, PropertyValue>]

    /// Core Data's number of this error.
    public var code: ManagedObjectError.Code { .mergeConflict }

    public var description: String {
        "\(conflicts.count) of the objects were changed elsewhere since they were read\(contested); "
            + "choose a merge policy, or refresh and save again (\(code.rawValue))"
    }

    /// The properties that both sides changed, if any.
    private var contested: String {
        let names = conflicts.flatMap { conflict in
            conflict.merge.contestedProperties.map { "\(conflict.object.entityName).\($0)" }
        }
        return names.isEmpty ? "" : " (both changed \(Set(names).sorted().joined(separator: ", ")))"
    }
}
