/// Merges the orders that two sides gave to the members of an ordered relationship.
package enum OrderedMerge {
    /// Returns the members of `merged` in an order that keeps what either side did to the base's.
    ///
    /// Where only one side moved members that both have, its order holds; where both did, the one preferred. What the
    /// other side added comes after the member that it follows there. Members that neither side lists are left out.
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
