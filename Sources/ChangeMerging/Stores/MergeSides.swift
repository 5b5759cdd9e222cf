/// The stores of a merge: what both came from, and the two that went on from there.
package struct MergeSides {
    /// Nil where nobody kept it: then objects are the same by identity only.
    package let base: MergeSide?
    /// The side whose changes are brought over; it is only read.
    package let old: MergeSide
    /// The side that takes them, and whose keys stay.
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
}
