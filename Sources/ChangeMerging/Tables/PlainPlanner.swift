import StoreAccess

/// Plans a merge of plain SQLite stores; it reads them and writes nothing.
struct PlainPlanner {
    let base: StoreConnection?
    let old: StoreConnection
    let shared: StoreConnection
    let settings: MergeSettings
    let questions: ConflictQuestions?
    let monitor: WorkMonitor
    let layout: PlainLayout
    var plan: PlainPlan
    var changes: [PlainChanges] = []
    /// The old side's change to each row that it did not add, by the row's key in the shared store.
    var changed: [[PlainKey: PlainChanges.Change]] = []
    /// Rows of the old side that were parked and must not be added again.
    var lost: [Set<PlainKey>]
    var unsettled = 0
    /// The rows found so far that share only a reused number.
    var reused: [ReusedKey] = []
    /// The rows of the old side that get a new number, because another row has theirs.
    var separated: [Set<PlainKey>]
    /// For each table the greatest key of the base whose row a side kept, once it is known.
    var lastKeptKeys: [[MergeDirection: PlainKey?]]
    let accountant: MergeAccountant
    var columnLists = PlainChanges.ColumnLists()
    private var survivors: [Int: Int] = [:]
    private var untimed: Set<Int> = []

    init(
        base: StoreConnection?,
        old: StoreConnection,
        shared: StoreConnection,
        moved: [RekeyedObject] = [],
        _ settings: MergeSettings,
        questions: ConflictQuestions? = nil,
        _ monitor: WorkMonitor,
        _ accountant: MergeAccountant? = nil,
        where isWanted: (String) -> Bool = { _ in true }
    ) throws {
        self.base = base
        self.old = old
        self.shared = shared
        self.settings = settings
        self.questions = questions
        self.monitor = monitor
        let accountant =
            try accountant ?? MergeAccountant(base: base, old: old, shared: shared, monitor: monitor)
        self.accountant = accountant
        layout = try PlainLayout(reading: shared) { accountant.isSame(table: $0) && isWanted($0) }
        plan = PlainPlan(layout, moved: moved)
        lost = layout.tables.map { _ in [] }
        separated = lost
        lastKeptKeys = layout.tables.map { _ in [:] }
    }

    mutating func makePlan() throws -> PlainPlan {
        try accountForStore()
        guard plan.summary.refusals.isEmpty else { return plan }
        return try planRows()
    }

    /// Decides only about rows.
    mutating func planRows() throws -> PlainPlan {
        let stores = [base, old, shared].compactMap { $0 }
        return try StoreConnection.lending(stores, to: stores) { try planRowsOfStores() }
    }

    private mutating func planRowsOfStores() throws -> PlainPlan {
        let scan = PlainScan(base: base, old: old, shared: shared, monitor: monitor)
        changes = try layout.tables.map { try scan.changes(of: $0, moved: plan.movedColumns(of: $0)) }
        for index in layout.tables.indices { changed.append(try changesOfSharedRows(index)) }
        noteIndexesLeftBehind()
        guard try changes.contains(where: { !$0.isEmpty }) || plan.account?.isQuiet == false || goesAhead() else {
            plan.summary.isIdle = true
            return plan
        }
        try decideRows()
        try refuseUnidentifiedRows()
        guard plan.summary.refusals.isEmpty else { return plan }
        try giveWayToTakenValues()
        try keepForeignKeys()
        try readSequences()
        rebuildIndexes()
        try finish()
        return plan
    }

    // MARK: Shared by all steps

    /// The policy for a table.
    mutating func policy(for table: Int) -> MergePolicy {
        let policy = settings.policies[layout.tables[table].name] ?? settings.policy
        // A plain table does not record when its values were set.
        if policy == .newest { untimed.insert(table) }
        return policy.rule
    }

    private func changesOfSharedRows(_ index: Int) throws -> [PlainKey: PlainChanges.Change] {
        var result: [PlainKey: PlainChanges.Change] = [:]
        for change in changes[index].changes where change.kind != .inserted {
            var key = change.key
            if plan.hasMoves, let store = change.kind == .deleted ? base : old {
                let row = try layout.tables[index].knownRow(key, in: store)
                key = layout.tables[index].key(of: plan.mapped(row, in: index))
            }
            result[key] = change
        }
        return result
    }

    /// A row of the old store with the shared store's keys.
    func mappedRow(_ key: PlainKey, in table: Int) throws -> [SQLValue] {
        plan.mapped(try layout.tables[table].knownRow(key, in: old), in: table)
    }

    /// A row of the shared store after the merge; nil if there is none.
    func merged(_ key: PlainKey, in table: Int) throws -> [SQLValue]? {
        guard let action = plan.actions[table][key] else { return try layout.tables[table].row(key, in: shared) }
        switch action.kind {
        case .delete: return nil
        case .insert, .restore: return try mappedRow(action.source, in: table)
        case .update:
            let row = try layout.tables[table].knownRow(key, in: shared)
            return action.updated(row, from: try mappedRow(action.source, in: table))
        }
    }

    /// True if a row of the shared store exists after the merge.
    func exists(_ key: PlainKey, in table: Int) throws -> Bool {
        if let action = plan.actions[table][key] { return action.kind != .delete }
        return try layout.tables[table].row(key, in: shared) != nil
    }

    mutating func park(
        _ side: MergeDirection,
        _ key: PlainKey,
        in table: Int,
        _ reason: StoreMergeConflict.Reason,
        values: [SQLValue]? = nil
    ) {
        plan.parked.insert(PlainPlan.Parking(side: side, table: table, key: key, values: values, reason: reason))
    }

    /// Reports a conflict about a row or a column, and returns it with its decision.
    ///
    /// If it `isOpen`, a resolver may decide otherwise than `taken`.
    @discardableResult
    mutating func report(
        _ reason: StoreMergeConflict.Reason,
        _ key: PlainKey,
        in table: Int,
        column: Int? = nil,
        base: StoreMergeConflict.State? = nil,
        old: StoreMergeConflict.State,
        shared: StoreMergeConflict.State,
        taken: StoreMergeConflict.Resolution,
        isOpen: Bool = false
    ) -> StoreMergeConflict {
        let conflict = StoreMergeConflict(
            entity: layout.tables[table].name,
            key: key.stored,
            property: column.map { layout.tables[table].columns[$0] },
            reason: reason,
            base: base,
            old: old,
            shared: shared,
            taken: taken,
            acceptsValue: column.map { layout.tables[table].isFree($0) } ?? false
        )
        .resolved(by: isOpen ? questions : nil)
        plan.summary.conflicts.append(conflict)
        return conflict
    }

    /// Counts a row that one side deleted and that stays because the other side changed it.
    mutating func noteSurvivor(of table: Int) { survivors[table, default: 0] += 1 }

    // MARK: The end

    private mutating func readSequences() throws {
        for (index, table) in layout.tables.enumerated() where table.isAutoincrement {
            let present = try table.sequence(in: shared)
            var greatest = max(try table.sequence(in: old), present)
            for (key, action) in plan.actions[index] where action.kind == .insert {
                greatest = max(greatest, key.values.first?.integer ?? 0)
            }
            if greatest > present { plan.sequences[table.name] = greatest }
        }
    }

    /// True if the old side assigned numbers that the shared side did not, although their rows are deleted.
    private func goesAhead() throws -> Bool {
        try layout.tables.contains { try $0.isAutoincrement && $0.sequence(in: old) > $0.sequence(in: shared) }
    }

    private mutating func rebuildIndexes() {
        var touched: Set<String> = []
        for (index, table) in layout.tables.enumerated()
        where !plan.actions[index].isEmpty || !plan.added[index].isEmpty || !plan.removed[index].isEmpty {
            touched.insert(table.name.lowercased())
        }
        plan.touched = touched
        plan.rebuilt = layout.indexes(over: touched)
    }

    private mutating func finish() throws {
        var summary = plan.summary
        for (index, table) in layout.tables.enumerated() {
            var counts = summary.entities[table.name] ?? MergeSummary.Counts()
            for action in plan.actions[index].values {
                switch action.kind {
                case .insert: counts.inserted += 1
                case .restore: counts.restored += 1
                case .update: counts.updated += 1
                case .delete: counts.deleted += 1
                }
            }
            counts.inserted += plan.added[index].count
            counts.deleted += plan.removed[index].count
            if counts != MergeSummary.Counts() { summary.entities[table.name] = counts }
            for (key, target) in plan.targets[index] where plan.known[index][key] == nil {
                summary.rekeyed += 1
                if target.reason == .sameObject { summary.joined += 1 }
            }
            if let count = survivors[index] {
                summary.notes.append(MergeNote(.editSurvivedDeletion, entity: table.name, count: count))
            }
            if untimed.contains(index), summary.conflicts.contains(where: { $0.entity == table.name }) {
                summary.notes.append(MergeNote(.timesUnknown, entity: table.name, count: 1))
            }
        }
        for counts in summary.entities.values {
            summary.inserted += counts.inserted
            summary.restored += counts.restored
            summary.updated += counts.updated
            summary.deleted += counts.deleted
        }
        for table in layout.triggered where summary.entities[table] != nil {
            summary.notes.append(MergeNote(.triggersHeldBack, entity: table, count: 1))
        }
        for table in plan.rebuilt { summary.notes.append(MergeNote(.indexRebuilt, entity: table, count: 1)) }
        summary.parked = plan.parked.count
        if unsettled > 0 { summary.refusals.append(.conflicts(unsettled)) }
        plan.summary = summary
        guard !summary.changesNothing else { return }
        for connection in [old, shared] {
            for (table, count) in try PlainMerge.danglingRows(in: connection) {
                plan.dangling[table, default: 0] += count
            }
        }
    }
}

extension PlainPlanner {
    /// Accounts for every part of the old store; the planner of a Core Data store does its own accounting.
    mutating func accountForStore() throws {
        var accountant = accountant
        accountant.claim(layout)
        let account = try accountant.account(policy: settings.policy.rule)
        plan.account = account
        plan.summary.refusals += account.refusals
        plan.summary.conflicts += account.conflicts
        account.count(in: &plan.summary.entities)
        unsettled += account.unsettled
    }

    /// Without a base, rows are matched by a key that the application assigns, by unique values, or by an identity.
    ///
    /// A number assigned by SQLite has no meaning in another store: differing rows of such a table would be duplicated.
    mutating func refuseUnidentifiedRows() throws {
        guard base == nil else { return }
        for (index, table) in layout.tables.enumerated() where table.needsIdentity(settings) {
            guard plan.actions[index].values.contains(where: { $0.kind == .insert }),
                try shared.value("SELECT 1 FROM \(table.quotedName) LIMIT 1") != nil
            else { continue }
            plan.summary.refusals.append(.unidentified(table: table.name))
        }
    }

    /// Search indexes without texts miss the rows that are merged into their tables.
    mutating func noteIndexesLeftBehind() {
        guard changes.contains(where: { !$0.isEmpty }) else { return }
        for (name, kind) in layout.virtualTables.sorted(by: { $0.key < $1.key }) where kind == .contentless {
            plan.summary.notes.append(MergeNote(.indexNotFollowed, entity: name, count: 1))
        }
    }
}
