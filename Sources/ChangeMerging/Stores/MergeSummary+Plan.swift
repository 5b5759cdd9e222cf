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
