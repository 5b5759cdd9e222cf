/// The caller's decisions about conflicts of a merge, in place of the policy's.
///
/// A resolver is asked between two plans of a merge: nothing is written yet, and the receiving store is not locked for writing.
/// A command may plan several times, so equal conflicts must get equal answers. If the resolver throws, nothing is merged.
///
/// It is asked where both sides set an attribute, a column or a to-one relationship to different values, and where one side
/// deleted an object that the other changed. All else follows the policy: metadata, settings of the file, the order of
/// members, and conflicts that leave no choice, such as unique values that another object has.
public struct ConflictResolver: Sendable {
    let resolve: @Sendable ([StoreMergeConflict]) async throws -> [StoreMergeConflict.Resolution]

    /// Asks about one conflict after the other.
    public init(_ resolve: @escaping @Sendable (StoreMergeConflict) async throws -> StoreMergeConflict.Resolution) {
        self.init(all: { conflicts in
            var resolutions: [StoreMergeConflict.Resolution] = []
            for conflict in conflicts { resolutions.append(try await resolve(conflict)) }
            return resolutions
        })
    }

    /// Asks about many conflicts at once; the resolutions have the order of the conflicts.
    public init(
        all resolve: @escaping @Sendable ([StoreMergeConflict]) async throws -> [StoreMergeConflict.Resolution]
    ) {
        self.resolve = resolve
    }
}
