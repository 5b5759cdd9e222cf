import StoreAccess
package import StoreFormat

/// The changes that a merge makes to the shared store: only keys and names, so that a plan can be printed, counted and
/// refused.
package struct MergePlan: Sendable {
    /// An object of the old store, and its row in the shared store.
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
        /// The values that a resolver gave to some of these attributes.
        var given: [String: SQLValue] = [:]
    }

    /// The members of an ordered relationship in the three stores, in the shared store's keys.
    package struct Arrangement: Hashable, Sendable {
        package let slot: LinkSlot
        package let base: [Int64]
        package let old: [Int64]
        package let shared: [Int64]
        package let prefersOld: Bool
    }

    /// A row that lost a decision and is parked.
    package struct Parking: Hashable, Sendable {
        package let side: MergeDirection
        package let row: RowKey
        package let entity: String
        package let reason: StoreMergeConflict.Reason
    }

    /// A change that history lists beyond the merge's own writes.
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
    /// Objects that only the shared side deleted, and that are restored under their own keys.
    package internal(set) var restorations: [RowKey: String] = [:]
    /// Attributes omitted from an inserted or restored row, because another object has its unique values.
    package internal(set) var omitted: [RowKey: Set<String>] = [:]
    package internal(set) var deletions: [RowKey: String] = [:]
    package internal(set) var updates: [Update] = []
    package internal(set) var linksToRemove: Set<Link> = []
    package internal(set) var linksToAdd: Set<Link> = []
    package internal(set) var arrangements: [Arrangement] = []
    package internal(set) var conflicts: [StoreMergeConflict] = []
    package internal(set) var parked: Set<Parking> = []
    package internal(set) var listings: [Listing] = []
    /// True if the old side has no changes since the base.
    package internal(set) var isIdle = false
    package internal(set) var notes: [MergeNote] = []
    /// The plan for rows that the model does not describe; nil if the store has no such tables.
    var outside: PlainPlan?
    package internal(set) var account: MergeAccount?

    package init() {}

    /// True if the shared store already has all of the old store's content.
    package var changesNothing: Bool {
        insertions.isEmpty && restorations.isEmpty && deletions.isEmpty && updates.isEmpty && linksToRemove.isEmpty
            && linksToAdd.isEmpty && arrangements.isEmpty
    }
}

extension MergePlan: CustomStringConvertible {
    /// A one-line summary of the plan.
    package var description: String {
        guard refusals.isEmpty else { return "refused: " + refusals.map(\.description).joined(separator: "; ") }
        return "\(insertions.count) inserted, \(restorations.count) restored, \(updates.count) updated, "
            + "\(deletions.count) deleted, \(linksToAdd.count) connected, \(linksToRemove.count) parted, "
            + "\(remapping.rekeyedCount) under other keys, \(conflicts.count) conflicts, \(parked.count) parked"
    }
}

extension MergeSummary {
    /// Summarizes a plan.
    init(_ plan: MergePlan) {
        self.init()
        refusals = plan.refusals
        inserted = plan.insertions.count
        restored = plan.restorations.count
        deleted = plan.deletions.count
        connected = plan.linksToAdd.count
        parted = plan.linksToRemove.count
        reordered = plan.arrangements.count
        joined = plan.remapping.joinedCount
        rekeyed = plan.remapping.rekeyedCount
        parked = plan.parked.count
        conflicts = plan.conflicts
        isIdle = plan.isIdle
        notes = plan.notes.sorted {
            ($0.kind.rawValue, $0.entity, $0.property ?? "") < ($1.kind.rawValue, $1.entity, $1.property ?? "")
        }
        for insertion in plan.insertions { entities[insertion.entity, default: Counts()].inserted += 1 }
        for entity in plan.restorations.values { entities[entity, default: Counts()].restored += 1 }
        for entity in plan.deletions.values { entities[entity, default: Counts()].deleted += 1 }
        // One object may get values twice: as itself, and as the match of an inserted object.
        var updatedRows: Set<RowKey> = []
        for update in plan.updates where updatedRows.insert(update.target).inserted {
            entities[update.entity, default: Counts()].updated += 1
        }
        updated = updatedRows.count
        if let outside = plan.outside { add(outside.summary) }
        guard let account = plan.account else { return }
        account.count(in: &entities)
        updated += account.headerChanges.count + account.metadataChanges.count
        inserted += account.created.entries.count + Int(account.createdRows.values.reduce(0, +))
    }

    /// Adds the summary of rows that the model does not describe.
    private mutating func add(_ other: MergeSummary) {
        inserted += other.inserted
        restored += other.restored
        updated += other.updated
        deleted += other.deleted
        joined += other.joined
        rekeyed += other.rekeyed
        parked += other.parked
        entities.merge(other.entities) { one, _ in one }
        conflicts += other.conflicts
        notes += other.notes
    }
}
