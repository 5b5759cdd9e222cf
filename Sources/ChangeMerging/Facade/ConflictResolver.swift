/// The caller's decisions about conflicts of a merge, in place of the policy's.
///
/// A resolver is asked while a merge is planned. Nothing is merged yet, and SQLite holds no lock on the shared store; but other
/// commands about the stores wait, and a share that replaces the old store by a merge may have fenced it already: answer
/// within seconds. If the resolver throws, nothing is merged. A command may plan several times, and ask about the same
/// conflict again: give the same answer.
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
