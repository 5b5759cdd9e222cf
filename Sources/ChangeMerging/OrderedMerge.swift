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
