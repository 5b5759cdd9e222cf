import SafeFiles
import StoreFormat

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
    fileprivate func isSameKind(as other: StoredValue) -> Bool {
        switch (self, other) {
        case (.null, .null), (.integer, .integer), (.real, .real), (.text, .text), (.bytes, .bytes): true
        default: false
        }
    }
}
