import CSQLite
import SafeFiles
import StoreAccess
import StoreFormat

/// A planned merge of plain SQLite stores: row by row, and column by column.
struct PlainMerge: PlannedMerge {
    let plan: PlainPlan
    let old: StoreConnection
    let shared: StoreConnection
    let commitCount: CommitCount?
    let monitor: WorkMonitor

    /// The store name in the addresses of rows; such a store has no identifier.
    static let storeName = "sqlite"

    var summary: MergeSummary { plan.summary }
    var account: MergeAccount? { plan.account }

    /// Plans the merge; the caller keeps a read transaction open on each store.
    init(
        base: StoreConnection?,
        old: StoreConnection,
        shared: StoreConnection,
        moved: [RekeyedObject] = [],
        settings: MergeSettings,
        questions: ConflictQuestions? = nil,
        at commitCount: CommitCount?,
        monitor: WorkMonitor
    ) throws {
        var planner = try PlainPlanner(
            base: base,
            old: old,
            shared: shared,
            moved: moved,
            settings,
            questions: questions,
            monitor
        )
        plan = try planner.makePlan()
        self.old = old
        self.shared = shared
        self.commitCount = commitCount
        self.monitor = monitor
    }

    /// Reports rekeyed rows of tables with integer keys only, because an address contains one number.
    func forEachRekeyedObject(_ body: (RekeyedObject) throws -> Void) throws {
        for (index, table) in plan.layout.tables.enumerated() where table.hasMovableKey {
            let targets = plan.targets[index].filter { plan.known[index][$0.key] == nil }
                .compactMap { key, target in
                    if let old = key.values.first?.integer, let new = target.key.values.first?.integer {
                        (old: old, new: new, reason: target.reason)
                    } else {
                        nil
                    }
                }
            for target in targets.sorted(by: { $0.old < $1.old }) {
                try body(
                    RekeyedObject(
                        entity: table.name,
                        old: ObjectURI(storeUUID: Self.storeName, entity: table.name, primaryKey: target.old),
                        new: ObjectURI(storeUUID: Self.storeName, entity: table.name, primaryKey: target.new),
                        reason: target.reason
                    )
                )
            }
        }
    }

    /// The planned changes to rows of a Core Data store that its model does not describe.
    init(_ plan: PlainPlan, old: StoreConnection, shared: StoreConnection, _ monitor: WorkMonitor) {
        (self.plan, self.old, self.shared, commitCount, self.monitor) = (plan, old, shared, nil, monitor)
    }

    func carryOut(_ run: MergeRun) throws -> MergeResult {
        guard summary.refusals.isEmpty else { throw summary.refusal(path: shared.location.path) }
        if summary.isIdle { return MergeResult(.nothingToDo) }
        if try MergeEpochTable.read(shared).contains(run.epoch) { return MergeResult(.alreadyDone) }
        if plan.changesNothing { return MergeResult(.nothingToDo) }
        try parkInPlannedState(run.park)
        return try write(run)
    }

    /// Parks rows before the write lock is acquired; the state is checked again under the lock.
    private func parkInPlannedState(_ body: (ParkedRow) throws -> Void) throws {
        guard !plan.parked.isEmpty else { return }
        try shared.beginReading()
        defer { shared.rollback() }
        try requireSameState()
        try park(body)
    }

    private func requireSameState() throws {
        guard let commitCount, try shared.commitCount() == commitCount else {
            throw StoreError(
                .changedMeanwhile,
                path: shared.location.path,
                "the store was changed after the merge was planned"
            )
        }
    }

    private func write(_ run: MergeRun) throws -> MergeResult {
        try shared.inTransaction(until: run.deadline) {
            if try MergeEpochTable.read(shared).contains(run.epoch) { return MergeResult(.alreadyDone) }
            try StoreFence.requireNone(in: shared)
            try requireSameState()
            let recording = try run.record?(shared)
            let rejections = try StoreConnection.stopping([old, shared], by: monitor) {
                try writeRows(recording, park: run.park)
            }
            try MergeEpochTable.write(run.epoch, to: shared)
            try recording?.finish()
            return MergeResult(.merged, rejections: rejections)
        }
    }

    /// Writes the rows, inside a transaction of the shared store; returns the changes that its constraints rejected.
    func writeRows(
        _ recording: (any MergeRecording)?,
        park: @escaping (ParkedRow) throws -> Void
    ) throws -> [MergeRejection] {
        setTriggers(fire: false)
        defer { setTriggers(fire: true) }
        var execution = PlainExecution(plan: plan, old: old, shared: shared, recording: recording, park: park)
        let stores = [old, shared]
        try StoreConnection.lending(stores, to: stores) { try execution.write() }
        try requireForeignKeys()
        return execution.rejections
    }

    /// Triggers already fired on the old side, and their effects are among its changes.
    private func setTriggers(fire: Bool) {
        _ = shared.withHandle { csqlite_configure($0, SQLITE_DBCONFIG_ENABLE_TRIGGER, fire ? 1 : 0) }
    }

    // MARK: Foreign keys

    /// The number of dangling rows in each table.
    ///
    /// Empty if no table has foreign keys, or if SQLite cannot check them.
    static func danglingRows(in connection: StoreConnection) throws -> [String: Int64] {
        let keys = """
            SELECT 1 FROM sqlite_schema AS m, pragma_foreign_key_list(m.name) AS f
            WHERE m.type = 'table' AND m.rootpage <> 0 LIMIT 1
            """
        guard try connection.value(keys) != nil else { return [:] }
        var result: [String: Int64] = [:]
        do {
            try connection.forEachRow("PRAGMA foreign_key_check") { row in result[row.text(0) ?? "", default: 0] += 1 }
        } catch let error as StoreError {
            // SQLite checks nothing once a foreign key refers to columns that are not unique.
            guard error.code == .failed else { throw error }
            return [:]
        }
        return result
    }

    /// Throws if a table has more dangling rows than in the two stores together.
    private func requireForeignKeys() throws {
        for (table, count) in try Self.danglingRows(in: shared) where count > plan.dangling[table] ?? 0 {
            throw StoreError(
                .incompatible,
                path: shared.location.path,
                "the merge would leave rows of the table \(table) with missing parents, and was rolled back"
            )
        }
    }

    // MARK: Parked rows

    func park(_ body: (ParkedRow) throws -> Void) throws {
        let parked = try plan.parked.sorted(checking: monitor.checkCancellation) { first, second in
            if first.table != second.table { return first.table < second.table }
            if first.side != second.side { return first.side == .old }
            if first.key != second.key { return first.key.precedes(second.key) }
            return first.reason.rawValue < second.reason.rawValue
        }
        for parking in parked {
            let table = plan.layout.tables[parking.table]
            let connection = parking.side == .old ? old : shared
            let values = try parking.values ?? table.knownRow(parking.key, in: connection)
            let target = try target(of: parking)
            try body(table.parked(parking.side, parking.key, at: target, values, parking.reason, from: [connection]))
        }
    }

    /// The key of a parked row in the shared store after the merge; nil if there is no such row.
    private func target(of parking: PlainPlan.Parking) throws -> PlainKey? {
        let table = plan.layout.tables[parking.table]
        guard !table.isBag else { return nil }
        var key = parking.key
        if parking.side == .old, let values = try table.row(key, in: old) {
            key = table.key(of: plan.mapped(values, in: parking.table))
        }
        if let action = plan.actions[parking.table][key] { return action.kind == .delete ? nil : key }
        return try table.row(key, in: shared) == nil ? nil : key
    }
}

extension PlainTable {
    /// A row in its parked form.
    func parked(
        _ side: MergeDirection,
        _ key: PlainKey,
        at target: PlainKey?,
        _ values: [SQLValue],
        _ reason: StoreMergeConflict.Reason,
        from sources: [any LargeValueSource]
    ) -> ParkedRow {
        ParkedRow(
            side: side,
            entity: name,
            key: key.stored,
            target: target?.stored,
            reason: reason,
            values: Dictionary(zip(columns, values), uniquingKeysWith: { first, _ in first }),
            from: sources
        )
    }
}
