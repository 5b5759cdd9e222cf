/// Merges what was done to one object here and in the store since the state that both know: the base.
///
/// Attributes and to-one relationships are properties with one value each; a property that a side does not mention is as
/// it was in the base. To-many relationships are merged as changes of their members, never by replacing them. Use it only
/// for objects whose version in the store is not the one they were read at; others are simply saved.
///
/// | policy | changed here only | in the store only | in both | deleted there, changed here | deleted here, changed there |
/// |---|---|---|---|---|---|
/// | error | fails | fails | fails | fails | fails |
/// | mergeByPropertyStoreTrump | here | store | store | goes ¹ | stays ¹ |
/// | mergeByPropertyObjectTrump | here | store | here | comes back ¹ | goes ¹ |
/// | overwrite | here | base | here | comes back ¹ | goes |
/// | rollback | store | store | store | goes | stays |
///
/// ¹ Our choice, where the documentation says nothing: the side that the policy prefers decides, and if that is the side
/// with the edit, the edit survives. Also ours: the same value set on both sides is no conflict; members of to-many
/// relationships are merged in both directions under every policy but error and rollback; an object that only lost members
/// here is not restored; a reference to an object that the store no longer has is omitted, so that no key dangles.
public struct ThreeWayMerge<Value: Hashable & Sendable>: Sendable {
    /// One side's changes to the object.
    public enum Side: Hashable, Sendable {
        case changed([String: Value], toMany: [String: ToManyChange<Value>] = [:])
        case deleted
    }

    public let base: [String: Value]
    public let local: Side
    public let store: Side
    /// Values that cannot be written: references to objects that the store no longer has, or bytes whose file is
    /// missing.
    public let absent: Set<Value>

    public init(base: [String: Value], local: Side, store: Side, absent: Set<Value> = []) {
        self.base = base
        self.local = local
        self.store = store
        self.absent = absent
    }

    /// What to do to the store so that it contains the merged object.
    public func outcome(by policy: MergePolicy) -> MergeOutcome<Value> {
        switch (local, store) {
        case (.deleted, .deleted): .keep
        case (.deleted, .changed): deletedHere(policy)
        case (.changed(let values, let toMany), .deleted): deletedInStore(policy, values, toMany)
        case (.changed(let values, let toMany), .changed(let stored, _)): merged(policy, values, toMany, stored)
        }
    }

    /// The properties that both sides changed to different values, in byte order.
    public var contestedProperties: [String] {
        guard case .changed(let values, _) = local, case .changed(let stored, _) = store else { return [] }
        return values.keys
            .filter { name in
                let (here, there) = (values[name], stored[name] ?? base[name])
                return here != base[name] && there != base[name] && here != there
            }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    // MARK: Cells

    private func deletedHere(_ policy: MergePolicy) -> MergeOutcome<Value> {
        switch policy {
        case .error: .fail
        case .mergeByPropertyStoreTrump, .rollback: .keep
        case .mergeByPropertyObjectTrump, .overwrite: .delete
        }
    }

    private func deletedInStore(
        _ policy: MergePolicy,
        _ values: [String: Value],
        _ toMany: [String: ToManyChange<Value>]
    ) -> MergeOutcome<Value> {
        switch policy {
        case .error: .fail
        case .mergeByPropertyStoreTrump, .rollback: .keep
        case .mergeByPropertyObjectTrump, .overwrite:
            if values.isEmpty && toMany.values.allSatisfy(\.added.isEmpty) {
                .keep
            } else {
                .restore(
                    base.merging(values) { absent.contains($1) ? $0 : $1 }.filter { !absent.contains($0.value) },
                    toMany: remaining(toMany)
                )
            }
        }
    }

    private func merged(
        _ policy: MergePolicy,
        _ values: [String: Value],
        _ toMany: [String: ToManyChange<Value>],
        _ stored: [String: Value]
    ) -> MergeOutcome<Value> {
        var written: [String: Value] = [:]
        for name in Set(base.keys).union(values.keys).union(stored.keys) {
            let (was, there) = (base[name], stored[name] ?? base[name])
            let here = values[name] ?? was
            guard here != there, let here, !absent.contains(here) else { continue }
            switch policy {
            case .error, .rollback: break
            case .overwrite: written[name] = here
            case .mergeByPropertyStoreTrump: if there == was { written[name] = here }
            case .mergeByPropertyObjectTrump: if here != was { written[name] = here }
            }
        }
        switch policy {
        case .rollback: return .keep
        case .error:
            // Equal results on both sides need no decision; all others do.
            let isSettled = values.allSatisfy { name, value in
                value == base[name] || value == stored[name] ?? base[name]
            }
            return isSettled && toMany.values.allSatisfy(\.isEmpty) ? .keep : .fail
        case .overwrite, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump:
            let members = remaining(toMany)
            return written.isEmpty && members.isEmpty ? .keep : .write(written, toMany: members)
        }
    }

    /// The changes of members, without additions of missing objects.
    private func remaining(_ toMany: [String: ToManyChange<Value>]) -> [String: ToManyChange<Value>] {
        toMany.mapValues { ToManyChange(added: $0.added.subtracting(absent), removed: $0.removed) }
            .filter { !$0.value.isEmpty }
    }
}
