import StoreAccess

/// Compares plain SQLite stores: the first, the second, and the base if there is one.
struct PlainComparison {
    private let first: StoreConnection
    private let second: StoreConnection
    private let base: StoreConnection?
    private let includesValues: Bool
    private let monitor: WorkMonitor
    private let isWanted: (String) -> Bool

    init(
        _ stores: [StoreConnection],
        includesValues: Bool,
        _ monitor: WorkMonitor,
        where isWanted: @escaping (String) -> Bool = { _ in true }
    ) throws {
        first = stores[0]
        second = stores[1]
        base = stores.count > 2 ? stores[2] : nil
        self.includesValues = includesValues
        self.monitor = monitor
        self.isWanted = isWanted
    }

    /// Returns what a merge would do; the rows are not counted there.
    func run(_ body: (ObjectDifference) throws -> Void) throws -> DifferenceSummary {
        var summary = DifferenceSummary()
        try compareRows(body)
        guard let base else { return summary }
        var planner = try PlainPlanner(base: base, old: second, shared: first, MergeSettings(), monitor)
        let plan = try planner.makePlan()
        summary.conflicts = includesValues ? plan.summary.conflicts : plan.summary.conflicts.map(\.withoutValues)
        summary.refusals = plan.summary.refusals
        return summary
    }

    /// Compares only the rows.
    func compareRows(_ body: (ObjectDifference) throws -> Void) throws {
        guard let base else { return try compare(first, second, as: nil, body) }
        try compare(base, first, as: .first, body)
        try compare(base, second, as: .second, body)
    }

    private func compare(
        _ before: StoreConnection,
        _ after: StoreConnection,
        as side: ObjectDifference.Side?,
        _ body: (ObjectDifference) throws -> Void
    ) throws {
        let (then, now) = try (
            PlainLayout(reading: before, where: isWanted), PlainLayout(reading: after, where: isWanted)
        )
        let scan = PlainScan(base: before, old: after, shared: before, monitor: monitor)
        for table in now.tables {
            guard then.tables.contains(where: { Self.isSame($0, table) }) else {
                try forEachRow(of: table, in: after) { try body(object(table, $0, .inserted, [], side)) }
                continue
            }
            let changes = try scan.changes(of: table)
            for change in changes.changes {
                switch change.kind {
                case .inserted: try body(object(table, change.key, .inserted, [], side))
                case .deleted: try body(object(table, change.key, .deleted, [], side))
                case .updated:
                    let old = includesValues ? try table.states(change.columns, of: change.key, in: before) : nil
                    let new = includesValues ? try table.states(change.columns, of: change.key, in: after) : nil
                    let properties = change.columns.enumerated()
                        .map { place, column in
                            ObjectDifference.Property(
                                name: table.columns[column],
                                before: old?[place],
                                after: new?[place],
                                added: [],
                                removed: [],
                                isReordered: false
                            )
                        }
                    try body(object(table, change.key, .updated, properties, side))
                }
            }
            for row in changes.rows where !row.isInBoth {
                try body(object(table, PlainKey([]), row.removed == nil ? .inserted : .deleted, [], side))
            }
        }
        for table in then.tables where !now.tables.contains(where: { Self.isSame($0, table) }) {
            try forEachRow(of: table, in: before) { try body(object(table, $0, .deleted, [], side)) }
        }
    }

    /// True for tables whose rows were compared.
    private static func isSame(_ one: PlainTable, _ other: PlainTable) -> Bool {
        one.name == other.name && one.condition == other.condition && one.sourceColumns == other.sourceColumns
            && one.key == other.key && (!one.isBag || (one.rowID != nil && one.rowID == other.rowID))
    }

    private func forEachRow(of table: PlainTable, in store: StoreConnection, _ body: (PlainKey) throws -> Void) throws {
        guard !table.isBag || table.rowID != nil else { return }
        try table.forEach([], in: store) { key, _ in try body(table.isBag ? PlainKey([]) : key) }
    }

    private func object(
        _ table: PlainTable,
        _ key: PlainKey,
        _ kind: ObjectDifference.Kind,
        _ properties: [ObjectDifference.Property],
        _ side: ObjectDifference.Side?
    ) -> ObjectDifference {
        ObjectDifference(
            side: side,
            entity: table.name,
            key: key.stored,
            address: nil,
            kind: kind,
            properties: properties
        )
    }
}
