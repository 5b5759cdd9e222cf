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
    /// Rows of the shared store by the values that make objects the same, for those that may be the same as an inserted one.
    var identified: [Identification: [RowKey]] = [:]
    /// Rows that the merge inserts.
    var arriving: Set<RowKey> = []
    /// Objects that do not take the unique values that the old side gave them, and so keep their own.
    var holdingOn: Set<RowKey> = []
    /// Rows that would have been inserted, had their unique values been free.
    var absent: Set<RowKey> = []
    /// Conflicts under the policy `error`.
    var unsettled = 0
    /// When each side changed what, where the policy asks for it.
    var oldTimes = ChangeTimes()
    var sharedTimes = ChangeTimes()
    /// Attributes that the old side has and the shared one has no place for, by entity.
    var lacking: [String: Set<String>] = [:]

    init(_ sides: MergeSides, _ settings: MergeSettings, monitor: WorkMonitor) {
        self.sides = sides
        self.settings = settings
        self.monitor = monitor
    }

    /// `movedOutside` are rows that the model does not describe, and that earlier merges gave other keys.
    mutating func makePlan(movedOutside: [RekeyedObject] = []) throws -> MergePlan {
        try checkSettings()
        try refuseUnrelatedStores()
        guard plan.refusals.isEmpty else { return plan }
        try collect()
        guard plan.refusals.isEmpty else { return plan }
        try refuseCloudMirrors()
        try accountForStore(moved: movedOutside)
        guard plan.refusals.isEmpty else { return plan }
        let isQuiet = plan.account?.isQuiet != false && plan.outside?.summary.isIdle != false
        guard try !old.isEmpty || !isQuiet || hasGoneAhead() else {
            plan.isIdle = true
            return plan
        }
        try refuseDifferentModels()
        guard plan.refusals.isEmpty else { return plan }
        try decideDeletions()
        try identify()
        try decideValues()
        try refuseMovingKeys()
        try mergeLinks()
        try arrange()
        try listForHistory()
        if unsettled > 0 { plan.refusals.append(.conflicts(unsettled)) }
        return plan
    }

    /// True when the old side gave out keys or transactions since the base, though nothing is left of them.
    ///
    /// Then the shared side has to go ahead, too: consumers of the old side count by its numbers.
    private func hasGoneAhead() throws -> Bool {
        guard let base = sides.base else { return false }
        if base.history != nil,
            try sides.old.greatestHistoryNumber(of: "TRANSACTION") > base.greatestHistoryNumber(of: "TRANSACTION")
        {
            return true
        }
        return try base.roots.contains { root in
            guard sides.old.layout.entities[root] != nil, sides.shared.layout.entities[root] != nil else {
                return false
            }
            return try sides.old.recordedGreatestKey(of: root) > base.recordedGreatestKey(of: root)
        }
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
            takeOld(try ChangeCollector.everything(in: sides.old))
            shared = try ChangeCollector.everything(in: sides.shared)
            return
        }
        var toOld = ChangeCollector(from: base, to: sides.old, monitor: monitor)
        var toShared = ChangeCollector(from: base, to: sides.shared, translating: base.keys, monitor: monitor)
        let starts = (
            old: try ChangeCollector.historyStart(from: base, to: sides.old),
            shared: try ChangeCollector.historyStart(from: base, to: sides.shared)
        )
        if settings.source == .automatic, !hasUnknownColumns, let oldStart = starts.old, let sharedStart = starts.shared
        {
            takeOld(try toOld.follow(historyAfter: oldStart))
            shared = try toShared.follow(historyAfter: sharedStart)
            // A history that tells of nothing may be one that nobody wrote to: a plain SQLite writer does not.
            if old.isEmpty {
                takeOld(try toOld.scan())
                if !old.isEmpty { shared = try toShared.scan() }
            }
        } else {
            takeOld(try toOld.scan())
            shared = try toShared.scan()
        }
        try refuseWrongBase(toOld, toShared)
        let asksForTimes = settings.policy == .newest || settings.policies.values.contains(.newest)
        if asksForTimes, let oldStart = starts.old, let sharedStart = starts.shared {
            oldTimes = try ChangeTimes(of: sides.old, after: oldStart)
            sharedTimes = try ChangeTimes(of: sides.shared, after: sharedStart)
        }
    }

    /// True where columns are merged that history never names: their writers are none of Core Data's.
    private var hasUnknownColumns: Bool {
        sides.old.layout.entities.values.contains { entity in entity.attributes.contains { $0.isUnknown } }
    }

    /// Takes the old side's changes in the keys of the merge, which from then on it is spoken to in.
    private mutating func takeOld(_ changes: SideChanges) {
        sides.old.keys.inserted = Set(changes.inserted.keys)
        old = changes.translated(by: sides.old.keys, sides.old.relations)
    }

    /// Versions only ever rise: a row that is older on a side than in the base never was the base's.
    ///
    /// That does not hold of a store that saw a merge: it counts its own versions, and the base is the old side's.
    private mutating func refuseWrongBase(_ toOld: ChangeCollector, _ toShared: ChangeCollector) throws {
        if toOld.hasOlderVersions { plan.refusals.append(.notTheBase(.old)) }
        if toShared.hasOlderVersions, try StoreMerger.epoch(of: sides.shared.connection) == nil {
            plan.refusals.append(.notTheBase(.shared))
        }
    }

    /// Throws where the choices name what the store does not have: they would be passed over in silence.
    private func checkSettings() throws {
        let model = sides.shared.layout.model
        let names = Set(settings.policies.keys).union(settings.identities.keys)
        for name in names.sorted(by: ManagedObjectModel.inByteOrder) {
            guard sides.shared.layout.entities[name] != nil else {
                if sides.shared.schema.table(named: name) != nil { continue }
                throw StoreError(
                    .incompatible,
                    path: sides.shared.connection.location.path,
                    "the store has no entity \(name), which the choices for the merge name"
                )
            }
            let attributes = Set(model.attributes(of: name).filter { !$0.isTransient }.map(\.name))
            guard let unknown = settings.identities[name]?.first(where: { !attributes.contains($0) }) else { continue }
            throw StoreError(
                .incompatible,
                path: sides.shared.connection.location.path,
                "\(name) has no attribute \(unknown), by which its objects were to be the same"
            )
        }
    }

    // MARK: What every step asks

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

    mutating func park(_ side: MergeDirection, _ row: RowKey, _ entity: String, _ reason: StoreMergeConflict.Reason) {
        plan.parked.insert(MergePlan.Parking(side: side, row: row, entity: entity, reason: reason))
    }
}
