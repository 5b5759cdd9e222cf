package import StoreFormat

/// What a merge will do to the shared store: keys and names only, so that it can be printed, counted and refused.
package struct MergePlan: Sendable {
    /// An object of the old store, and the row that it becomes.
    package struct Insertion: Hashable, Sendable {
        package let source: RowKey
        package let target: RowKey
        package let entity: String
    }

    /// Attributes of an object that take the old store's values.
    package struct Update: Hashable, Sendable {
        package let source: RowKey
        package let target: RowKey
        package let entity: String
        package var names: Set<String>
    }

    /// The members of an ordered relationship on the three sides, in the shared store's keys.
    package struct Arrangement: Hashable, Sendable {
        package let slot: LinkSlot
        package let base: [Int64]
        package let old: [Int64]
        package let shared: [Int64]
        package let prefersOld: Bool
    }

    /// A row that lost a decision, and is written down as it is.
    package struct Parking: Hashable, Sendable {
        package let side: MergeDirection
        package let row: RowKey
        package let entity: String
        package let reason: StoreMergeConflict.Reason
    }

    /// What history is told of an object beyond what the merge itself does to it.
    package struct Listing: Hashable, Sendable {
        package let row: RowKey
        package let entity: String
        package let kind: HistoryChange.Kind
        package let attributes: Set<String>
    }

    package internal(set) var refusals: [MergeRefusal] = []
    package internal(set) var remapping = KeyRemapping()
    /// The greatest key of each root after the merge.
    package internal(set) var greatestKeys: [String: Int64] = [:]
    package internal(set) var insertions: [Insertion] = []
    /// Objects that only the shared side deleted, and that come back under their own keys.
    package internal(set) var restorations: [RowKey: String] = [:]
    /// Attributes that a row to be inserted or restored goes without, since another object has its unique values.
    package internal(set) var omitted: [RowKey: Set<String>] = [:]
    package internal(set) var deletions: [RowKey: String] = [:]
    package internal(set) var updates: [Update] = []
    package internal(set) var linksToRemove: Set<Link> = []
    package internal(set) var linksToAdd: Set<Link> = []
    package internal(set) var arrangements: [Arrangement] = []
    package internal(set) var conflicts: [StoreMergeConflict] = []
    package internal(set) var parked: Set<Parking> = []
    package internal(set) var listings: [Listing] = []
    /// True when the old side did nothing since the base: there is nothing to merge.
    package internal(set) var isIdle = false
    package internal(set) var notes: [MergeNote] = []
    /// What becomes of rows that the model does not describe; nil where the store has no such tables.
    var outside: PlainPlan?
    package internal(set) var account: MergeAccount?

    package init() {}

    /// True when the shared store has all that the old one has.
    package var changesNothing: Bool {
        insertions.isEmpty && restorations.isEmpty && deletions.isEmpty && updates.isEmpty && linksToRemove.isEmpty
            && linksToAdd.isEmpty && arrangements.isEmpty
    }
}

extension MergePlan: CustomStringConvertible {
    /// The plan's extent in one line.
    package var description: String {
        guard refusals.isEmpty else { return "refused: " + refusals.map(\.description).joined(separator: "; ") }
        return "\(insertions.count) inserted, \(restorations.count) restored, \(updates.count) updated, "
            + "\(deletions.count) deleted, \(linksToAdd.count) connected, \(linksToRemove.count) parted, "
            + "\(remapping.rekeyedCount) under other keys, \(conflicts.count) conflicts, \(parked.count) parked"
    }
}
