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

/// An object that was changed here and in the store, with the three states of its properties.
///
/// To-many relationships are never included, as in Core Data's own conflicts.
public struct MergeConflict<Object: Hashable & Sendable, Value: Hashable & Sendable>: Error, Hashable, Sendable {
    public let object: Object
    /// The version at which the object was read here.
    public let oldVersion: Int64
    /// The version in the store; nil when it is deleted there.
    public let newVersion: Int64?
    /// The state that both sides know.
    public let base: [String: Value]
    /// The state here; nil when it is deleted here.
    public let local: [String: Value]?
    /// The state in the store; nil when it is deleted there.
    public let store: [String: Value]?

    public init(
        object: Object,
        oldVersion: Int64,
        newVersion: Int64?,
        base: [String: Value],
        local: [String: Value]?,
        store: [String: Value]?
    ) {
        self.object = object
        self.oldVersion = oldVersion
        self.newVersion = newVersion
        self.base = base
        self.local = local
        self.store = store
    }

    /// The merge that resolves the conflict in properties with single values.
    public var merge: ThreeWayMerge<Value> {
        ThreeWayMerge(
            base: base,
            local: local.map { .changed($0) } ?? .deleted,
            store: store.map { .changed($0) } ?? .deleted
        )
    }
}

/// What a merge does to an object in the store.
public enum MergeOutcome<Value: Hashable & Sendable>: Hashable, Sendable {
    /// These properties and members overwrite the store's; all others keep the store's values.
    case write([String: Value], toMany: [String: ToManyChange<Value>])
    /// The store stays unchanged, and the object here takes its state from there: it is deleted if it was deleted
    /// there.
    case keep
    /// The object is deleted from the store.
    case delete
    /// The object, which the store no longer has, is inserted again under its former key, with these properties.
    case restore([String: Value], toMany: [String: ToManyChange<Value>])
    /// Nothing is saved, and the conflict is reported.
    case fail
}

/// How to merge an object that was changed here and in the store since it was read; Core Data's five policies.
///
/// Objects that are not in conflict are saved as they are under every policy. ``ThreeWayMerge`` has the table for those
/// that others changed or deleted. Where another object already has the unique values of one that is to be saved:
///
/// | policy | the object here is new | the object here is changed ¹ |
/// |---|---|---|
/// | error | fails | fails |
/// | mergeByPropertyStoreTrump | is discarded ¹ | reverts the unique values |
/// | mergeByPropertyObjectTrump | gives the values it was given to the other | stays; the other is deleted ² |
/// | overwrite | gives all its values to the other ¹ | stays; the other is deleted ² |
/// | rollback | is discarded ¹ | reverts all its changes |
///
/// A row that is in the store keeps its key. ¹ Our choice, where the documentation says nothing. Two new objects of one
/// save are decided in the same way, the one saved first being the other; between a new object and a changed one the table
/// for new objects applies. Values that one object of a save releases are free for the others, and no conflict.
///
/// ² Its relationships go over to the changed object first: all members of to-many relationships and all references to it;
/// of the to-one relationships those that are one-to-one and that the changed object has empty. Its own attributes go.
public enum MergePolicy: String, CaseIterable, Codable, Hashable, Sendable {
    /// Nothing is saved, and the conflicts are reported.
    case error
    /// Property by property; where both sides changed one, the store's value wins.
    case mergeByPropertyStoreTrump
    /// Property by property; where both sides changed one, the value here wins.
    case mergeByPropertyObjectTrump
    /// The whole object here replaces the one in the store.
    case overwrite
    /// The whole object in the store replaces the one here.
    case rollback

    /// True if the value here, or the old side's, wins where both sides changed one.
    var takesOld: Bool { self == .mergeByPropertyObjectTrump || self == .overwrite }
}

/// What one side did to the members of a to-many relationship since both sides agreed on them.
///
/// Changes of two sides never contradict each other: a member that one side added was not there for the other to
/// remove.
public struct ToManyChange<Member: Hashable & Sendable>: Hashable, Sendable {
    public var added: Set<Member>
    public var removed: Set<Member>

    public init(added: Set<Member> = [], removed: Set<Member> = []) {
        self.added = added
        self.removed = removed
    }

    /// The change from one set of members to another.
    public init(from base: Set<Member>, to members: Set<Member>) {
        self.init(added: members.subtracting(base), removed: base.subtracting(members))
    }

    public var isEmpty: Bool { added.isEmpty && removed.isEmpty }

    /// The members after the change.
    public func applied(to members: Set<Member>) -> Set<Member> {
        members.subtracting(removed).union(added)
    }
}

/// Merges the orders that two sides gave to the members of an ordered relationship.
package enum OrderedMerge {
    /// Returns the members of `merged` in an order that preserves each side's changes to the base's order.
    ///
    /// If only one side moved members that both have, its order applies; if both did, the preferred side's. A member
    /// that the other side added comes after its predecessor there. Members that neither side lists are omitted.
    package static func order<Member: Hashable>(
        _ merged: Set<Member>,
        base: [Member],
        local: [Member],
        store: [Member],
        prefersLocal: Bool
    ) -> [Member] {
        let common = Set(local).intersection(store).intersection(base)
        let was = base.filter(common.contains)
        let localMoved = local.filter(common.contains) != was
        let storeMoved = store.filter(common.contains) != was
        let leadsLocally = localMoved == storeMoved ? prefersLocal : localMoved
        let (leading, following) = leadsLocally ? (local, store) : (store, local)

        var result = leading.filter(merged.contains)
        var isPlaced = Set(result)
        for (index, member) in following.enumerated() where merged.contains(member) {
            guard isPlaced.insert(member).inserted else { continue }
            let before = following[..<index].last(where: isPlaced.contains)
            let place = before.flatMap { result.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
            result.insert(member, at: place)
        }
        return result
    }
}
