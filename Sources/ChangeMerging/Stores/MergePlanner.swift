import StoreFormat

/// Decides what a merge does; it reads the three stores and writes nothing.
struct MergePlanner {
    let sides: MergeSides
    let settings: MergeSettings
    let monitor: WorkMonitor
    var plan = MergePlan()
    var old = SideChanges()
    var shared = SideChanges()
    /// Objects that only the old side deleted, and that stay.
    var kept: Set<RowKey> = []
    /// Rows of the shared store that an object inserted on the old side is the same as.
    var joined: Set<RowKey> = []
    /// Rows that the merge inserts.
    var arriving: Set<RowKey> = []
    /// Objects that do not take the unique values that the old side gave them, and so keep their own.
    var holdingOn: Set<RowKey> = []
    /// Rows that would have been inserted, had their unique values been free.
    var absent: Set<RowKey> = []
    /// Conflicts under the policy `error`.
    var unsettled = 0

    init(_ sides: MergeSides, _ settings: MergeSettings, monitor: WorkMonitor) {
        self.sides = sides
        self.settings = settings
        self.monitor = monitor
    }

    mutating func makePlan() throws -> MergePlan {
        try refuseUnrelatedStores()
        guard plan.refusals.isEmpty else { return plan }
        try collect()
        guard !old.isEmpty else {
            plan.isIdle = true
            return plan
        }
        try refuseDifferentModels()
        try refuseCloudMirrors()
        guard plan.refusals.isEmpty else { return plan }
        try decideDeletions()
        try decideValues()
        try refuseMovingKeys()
        try mergeLinks()
        try arrange()
        listForHistory()
        if unsettled > 0 { plan.refusals.append(.conflicts(unsettled)) }
        return plan
    }

    /// Finds keys and values; begins anew where an object that was to let go of unique values has to keep them.
    private mutating func decideValues() throws {
        let (decided, undecided) = (plan, unsettled)
        var count: Int
        repeat {
            count = holdingOn.count
            (plan, unsettled) = (decided, undecided)
            joined = []
            arriving = []
            absent = []
            try mapKeys()
            try mergeAttributes()
            try omitTakenValues()
            try monitor.checkCancellation()
        } while holdingOn.count > count
    }

    private mutating func collect() throws {
        guard let base = sides.base else {
            old = try ChangeCollector.everything(in: sides.old)
            shared = try ChangeCollector.everything(in: sides.shared)
            return
        }
        var toOld = ChangeCollector(from: base, to: sides.old, monitor: monitor)
        var toShared = ChangeCollector(from: base, to: sides.shared, monitor: monitor)
        if settings.collection == .automatic,
            let oldStart = try ChangeCollector.historyStart(from: base, to: sides.old),
            let sharedStart = try ChangeCollector.historyStart(from: base, to: sides.shared)
        {
            old = try toOld.follow(historyAfter: oldStart)
            shared = try toShared.follow(historyAfter: sharedStart)
        } else {
            old = try toOld.scan()
            shared = try toShared.scan()
        }
    }

    // MARK: What every step asks

    /// The policy for an entity: its own, or that of the nearest entity that it inherits from.
    func policy(for entity: String) -> MergePolicy {
        for ancestor in sides.shared.layout.model.lineage(of: entity).reversed() {
            if let policy = settings.entityPolicies[ancestor.name] { return policy }
        }
        return settings.policy
    }

    func relation(_ link: Link) -> LinkRelation { sides.shared.relations[link.relation] }

    func row(_ link: Link, _ end: LinkRelation.Position) -> RowKey {
        RowKey(root: relation(link)[end].root, key: link.key(end))
    }

    /// True for a row of the shared store that is there after the merge, as far as the changes tell.
    func isAlive(_ row: RowKey) -> Bool {
        if arriving.contains(row) || plan.restorations[row] != nil { return true }
        if plan.deletions[row] != nil || absent.contains(row) { return false }
        return shared.deleted[row] == nil || shared.inserted[row] != nil
    }

    mutating func park(_ side: MergePlan.Side, _ row: RowKey, _ entity: String, _ reason: StoreMergeConflict.Reason) {
        plan.parked.insert(MergePlan.Parking(side: side, row: row, entity: entity, reason: reason))
    }
}
