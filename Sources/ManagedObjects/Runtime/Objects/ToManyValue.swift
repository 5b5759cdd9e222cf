/// The known destinations of a to-many relationship of one object: the stored ones, once read, and the changes since.
///
/// Changes are differences, so changes of two contexts can be combined.
struct ToManyValue {
    /// The destinations in the store; nil until they are read.
    var base: [ManagedObjectID]?
    private(set) var added: [ManagedObjectID] = []
    private(set) var removed: Set<ManagedObjectID> = []
    /// The complete list, if one was set in an ordered relationship.
    private(set) var arrangement: [ManagedObjectID]?

    var hasChanges: Bool { !added.isEmpty || !removed.isEmpty || arrangement != nil }

    /// The current destinations.
    func members(of stored: [ManagedObjectID]) -> [ManagedObjectID] {
        guard hasChanges else { return stored }
        var result = stored
        if !removed.isEmpty { result.removeAll { removed.contains($0) } }
        if !added.isEmpty {
            let known = Set(result)
            result += added.filter { !known.contains($0) }
        }
        guard let arrangement else { return result }
        let members = Set(result)
        let placed = arrangement.filter(members.contains)
        let known = Set(placed)
        return placed + result.filter { !known.contains($0) }
    }

    /// Adds a destination; in an ordered relationship as the last one, even if it was removed before.
    mutating func add(_ id: ManagedObjectID, isOrdered: Bool) {
        if !isOrdered, removed.remove(id) != nil { return }
        guard !added.contains(id) else { return }
        added.append(id)
    }

    /// Removes a destination; `isSaved` says that the store may have the pair, because both objects are saved.
    mutating func remove(_ id: ManagedObjectID, isSaved: Bool) {
        arrangement?.removeAll { $0 == id }
        if let index = added.firstIndex(of: id) {
            added.remove(at: index)
        } else if isSaved {
            removed.insert(id)
        }
    }

    func leads(to ids: Set<ManagedObjectID>) -> Bool {
        added.contains(where: ids.contains) || !removed.isDisjoint(with: ids)
            || arrangement?.contains(where: ids.contains) == true || base?.contains(where: ids.contains) == true
    }

    /// Removes objects that no longer exist from the base and the changes.
    mutating func drop(_ ids: Set<ManagedObjectID>) {
        base?.removeAll { ids.contains($0) }
        added.removeAll { ids.contains($0) }
        removed.subtract(ids)
        arrangement?.removeAll { ids.contains($0) }
    }

    mutating func arrange(_ ids: [ManagedObjectID]) { arrangement = ids }

    /// Makes the saved changes part of the base.
    mutating func commit(_ renamed: (ManagedObjectID) -> ManagedObjectID) {
        if let base { self.base = members(of: base).map(renamed) }
        added = []
        removed = []
        arrangement = nil
    }

    /// Replaces temporary IDs by permanent ones.
    mutating func rename(_ renamed: (ManagedObjectID) -> ManagedObjectID) {
        base = base?.map(renamed)
        added = added.map(renamed)
        removed = Set(removed.map(renamed))
        arrangement = arrangement?.map(renamed)
    }
}
