import SafeFiles
internal import StoreAccess
internal import StoreFormat
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

/// The conflicts of a plan that a resolver decides: those it has decided, and those it has to be asked about.
///
/// A plan is made with the policy's decisions first. Each later plan uses the resolver's, which may lead to other conflicts.
final class ConflictQuestions {
    private var resolutions: [StoreMergeConflict: StoreMergeConflict.Resolution] = [:]
    private var open: [StoreMergeConflict] = []

    /// The decision about a conflict; nil if the resolver was not asked yet.
    fileprivate func resolution(of conflict: StoreMergeConflict) -> StoreMergeConflict.Resolution? {
        if let resolution = resolutions[conflict] { return resolution }
        open.append(conflict)
        return nil
    }

    /// Asks about the conflicts of the last plan that are not decided; false if there are none.
    func ask(_ resolver: ConflictResolver, path: String, _ monitor: WorkMonitor) throws -> Bool {
        var known: Set<StoreMergeConflict> = []
        let conflicts = open.filter { known.insert($0).inserted }
        open = []
        guard !conflicts.isEmpty else { return false }
        let answers = try BlockingCall.wait(
            for: { try await resolver.resolve(conflicts) },
            requireTime: { try monitor.checkCancellation() }
        )
        guard answers.count == conflicts.count else {
            throw StoreError(
                .failed,
                path: path,
                "the resolver decided \(answers.count) of \(conflicts.count) conflicts; nothing was merged"
            )
        }
        for (conflict, answer) in zip(conflicts, answers) {
            guard let resolution = conflict.permitted(answer) else {
                throw StoreError(.failed, path: path, conflict.objection + "; nothing was merged")
            }
            resolutions[conflict] = resolution
        }
        return true
    }
}

extension StoreMergeConflict {
    /// The conflict with the resolver's decision, if there is one.
    func resolved(by questions: ConflictQuestions?) -> StoreMergeConflict {
        guard let resolution = questions?.resolution(of: self) else { return self }
        var conflict = self
        (conflict.taken, conflict.isResolved) = (resolution, true)
        return conflict
    }

    /// A resolver's answer as the store keeps it; nil for a value that the property cannot have.
    ///
    /// The property gets only values of a kind that it has on one of the sides. Integers become real numbers where it has those.
    func permitted(_ resolution: Resolution) -> Resolution? {
        guard case .value(let value) = resolution else { return resolution }
        let known = [base, old, shared]
            .compactMap { state in
                if case .value(let value)? = state { value } else { nil }
            }
        guard acceptsValue else { return nil }
        if known.contains(where: { $0.isSameKind(as: value) }) { return resolution }
        if case .integer(let number) = value, known.contains(where: { $0.isSameKind(as: .real(0)) }) {
            return .value(.real(Double(number)))
        }
        return nil
    }

    /// The property with its entity.
    var name: String { property.map { "\(entity).\($0)" } ?? entity }

    /// Why a resolver's value is refused, without the value.
    var objection: String {
        acceptsValue
            ? "the resolver gave \(name) a value of another kind than the stores have"
            : "the resolver gave \(name) a value, where it can only choose a side"
    }
}

extension StoredValue {
    /// A resolver's value for an attribute; throws ``StoreError`` if the attribute's type, or its being mandatory, excludes it.
    func sqlValue(
        for conflict: StoreMergeConflict,
        _ attribute: AttributeDescription?,
        at path: String
    ) throws -> SQLValue {
        guard attribute?.permits(sqlValue) != false else {
            throw StoreError(
                .failed,
                path: path,
                "the resolver gave \(conflict.name) a value that its type cannot have; nothing was merged"
            )
        }
        return sqlValue
    }

    fileprivate func isSameKind(as other: StoredValue) -> Bool {
        switch (self, other) {
        case (.null, .null), (.integer, .integer), (.real, .real), (.text, .text), (.bytes, .bytes): true
        default: false
        }
    }
}
