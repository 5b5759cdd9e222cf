internal import Synchronization

/// The caller's decisions about conflicts of a merge, in place of the policy's.
///
/// A resolver is asked while a merge is planned: nothing is merged yet, SQLite holds no lock on the shared store, and a share has
/// not fenced the old one. Only conflicts that appear later, because a program wrote meanwhile, are asked about while other
/// commands about the stores wait: answer within seconds. If the resolver throws, nothing is merged. Another command may ask
/// about the same conflict: give the same answer.
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

    /// A resolver that asks this one about each conflict once, for the plans and attempts of one command.
    package func remembering() -> ConflictResolver {
        let answers = RememberedAnswers()
        return ConflictResolver(all: { [resolve] conflicts in
            let open = conflicts.filter { answers[$0] == nil }
            if !open.isEmpty {
                let resolutions = try await resolve(open)
                // The caller reports a wrong number. By chance it may be that of all conflicts.
                guard resolutions.count == open.count else {
                    return resolutions.count == conflicts.count ? [] : resolutions
                }
                for (conflict, resolution) in zip(open, resolutions) { answers[conflict] = resolution }
            }
            return conflicts.compactMap { answers[$0] }
        })
    }
}

/// The answers that a resolver gave.
private final class RememberedAnswers: Sendable {
    private let answers = Mutex<[StoreMergeConflict: StoreMergeConflict.Resolution]>([:])

    subscript(_ conflict: StoreMergeConflict) -> StoreMergeConflict.Resolution? {
        get { answers.withLock { $0[conflict] } }
        set { answers.withLock { $0[conflict] = newValue } }
    }
}
