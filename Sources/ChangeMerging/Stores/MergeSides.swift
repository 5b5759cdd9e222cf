import StoreFormat

/// The stores of a merge: the base, and the two that descend from it.
package struct MergeSides {
    /// Nil if no base was kept: then objects are matched by identity only.
    package let base: MergeSide?
    /// The side whose changes are merged; it is only read.
    package let old: MergeSide
    /// The side that receives the changes, and whose keys stay.
    package let shared: MergeSide

    package init(base: MergeSide?, old: MergeSide, shared: MergeSide) {
        self.base = base
        self.old = old
        self.shared = shared
        let others = [base, old].compactMap { $0 }
        let common = shared.ownRelations.filter { relation in
            others.allSatisfy { $0.ownRelations.contains { $0.isSame(as: relation) } }
        }
        for side in others + [shared] { side.keepRelations(common) }
    }

    package var all: [MergeSide] { [base, old, shared].compactMap { $0 } }

    /// The sources of all large values of the stores.
    var sources: [any LargeValueSource] { all.map(\.connection) as [any LargeValueSource] + all }

    /// Runs `body`, in which all large values of the stores can be written.
    func lending<R>(_ body: () throws -> R) rethrows -> R {
        try StoreConnection.lending(sources, to: all.map(\.connection), body)
    }
}
