import StoreAccess
import StoreFormat

/// Plans a merge of Core Data stores; it reads the three stores and writes nothing.
struct MergePlanner {
    let sides: MergeSides
    let settings: MergeSettings
    let questions: ConflictQuestions?
    let monitor: WorkMonitor
    var plan = MergePlan()
    var old = SideChanges()
    var shared = SideChanges()
    /// Objects that only the old side deleted, and that stay.
    var kept: Set<RowKey> = []
    /// Rows of the shared store that match an object inserted by the old side.
    var joined: Set<RowKey> = []
    /// Rows of the shared store that an inserted object may match, by their identifying values.
    var identified: [Identification: [RowKey]] = [:]
    /// Rows that the merge inserts.
    var arriving: Set<RowKey> = []
    /// Objects that do not take the unique values that the old side set, and so keep their own.
    var holdingOn: Set<RowKey> = []
    /// Rows that were not inserted because their unique values were taken.
    var absent: Set<RowKey> = []
    /// Conflicts under the policy `error`.
    var unsettled = 0
    /// When each side set which property, if the policy needs it.
    var oldTimes = ChangeTimes()
    var sharedTimes = ChangeTimes()
    /// Attributes of the old side that the shared store lacks, by entity.
    var lacking: [String: Set<String>] = [:]

    init(
        _ sides: MergeSides,
        _ settings: MergeSettings,
        _ questions: ConflictQuestions? = nil,
        monitor: WorkMonitor
    ) {
        self.sides = sides
        self.settings = settings
        self.questions = questions
        self.monitor = monitor
    }

    /// `movedOutside` lists rows outside the model that earlier merges gave other keys.
    mutating func makePlan(movedOutside: [RekeyedObject] = []) throws -> MergePlan {
        try sides.lending { try planAll(movedOutside) }
    }

    private mutating func planAll(_ movedOutside: [RekeyedObject]) throws -> MergePlan {
        try rules.requireNames(schema: sides.shared.schema, path: sides.shared.connection.location.path)
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
        // Search indexes over any of their tables are rebuilt.
        if !plan.changesNothing { plan.outside?.touch(sides.shared.roots.compactMap(sides.shared.table)) }
        if unsettled > 0 { plan.refusals.append(.conflicts(unsettled)) }
        return plan
    }

    /// True if the old side assigned keys or transactions since the base, even if no object of them remains.
    ///
    /// The shared side must then advance too: consumers of the old side count by its numbers.
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

    /// Finds keys and values.
    ///
    /// Starts again if an object that was expected to release unique values has to keep them.
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
        for side in sides.all { try side.requirePositiveKeys() }
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
            // An empty history may mean that a plain SQLite writer changed the store without recording it.
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

    /// True if the merge includes columns outside the model, whose writers record no history.
    private var hasUnknownColumns: Bool {
        sides.old.layout.entities.values.contains { entity in entity.attributes.contains { $0.isUnknown } }
    }

    /// Sets the old side's changes, translated to the keys of the merge.
    private mutating func takeOld(_ changes: SideChanges) {
        sides.old.keys.inserted = Set(changes.inserted.keys)
        old = changes.translated(by: sides.old.keys, sides.old.relations)
    }

    /// Refuses a base that does not fit: versions only rise, so a side cannot have an older row than its base.
    ///
    /// A store that contains a merge is exempt, because it counts its own versions and the base is the old side's.
    private mutating func refuseWrongBase(_ toOld: ChangeCollector, _ toShared: ChangeCollector) throws {
        if toOld.hasOlderVersions { plan.refusals.append(.notTheBase(.old)) }
        if toShared.hasOlderVersions, try StoreMerger.epoch(of: sides.shared.connection) == nil {
            plan.refusals.append(.notTheBase(.shared))
        }
    }

    // MARK: Shared by all steps

    /// What identifies objects of the shared store's model.
    var rules: IdentityRules { IdentityRules(layout: sides.shared.layout, settings: settings) }

    func relation(_ link: Link) -> LinkRelation { sides.shared.relations[link.relation] }

    func row(_ link: Link, _ end: LinkRelation.Position) -> RowKey {
        RowKey(root: relation(link)[end].root, key: link.key(end))
    }

    /// True if a row of the shared store exists after the merge, according to the changes.
    func isAlive(_ row: RowKey) -> Bool {
        if arriving.contains(row) || plan.restorations[row] != nil { return true }
        if plan.deletions[row] != nil || absent.contains(row) { return false }
        return shared.deleted[row] == nil || shared.inserted[row] != nil
    }

    mutating func park(_ side: MergeDirection, _ row: RowKey, _ entity: String, _ reason: StoreMergeConflict.Reason) {
        plan.parked.insert(MergePlan.Parking(side: side, row: row, entity: entity, reason: reason))
    }
}
