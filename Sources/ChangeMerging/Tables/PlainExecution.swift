import CSQLite
import StoreAccess

/// Writes a plan, inside the transaction of its merge.
struct PlainExecution {
    let plan: PlainPlan
    let old: StoreConnection
    let shared: StoreConnection
    let recording: (any MergeRecording)?
    let park: (ParkedRow) throws -> Void
    /// The changes that the shared store's constraints rejected; their rows are parked.
    private(set) var rejections: [MergeRejection] = []
    /// Updates deferred until other rows release unique values: the former values, and the new ones.
    private var waiting: [(table: Int, source: PlainKey, former: [SQLValue], row: [SQLValue])] = []

    init(
        plan: PlainPlan,
        old: StoreConnection,
        shared: StoreConnection,
        recording: (any MergeRecording)?,
        park: @escaping (ParkedRow) throws -> Void
    ) {
        self.plan = plan
        self.old = old
        self.shared = shared
        self.recording = recording
        self.park = park
    }

    /// Deletions come first to release their unique values, and insertions last to take them.
    mutating func write() throws {
        for index in plan.layout.tables.indices { try delete(index) }
        for index in plan.layout.tables.indices { try update(index) }
        try updateWaiting()
        for index in plan.layout.tables.indices { try insert(index) }
        try plan.layout.rebuildIndexes(over: plan.touched, in: shared)
        for (name, number) in plan.sequences.sorted(by: { $0.key < $1.key }) {
            try shared.run(
                "UPDATE sqlite_sequence SET seq = max(ifnull(seq, 0), ?) WHERE name = ?",
                [.integer(number), .text(name)]
            )
            guard shared.withHandle({ sqlite3_changes64($0) }) == 0 else { continue }
            try shared.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [.text(name), .integer(number)])
        }
        try plan.account?.write(from: old, to: shared)
    }

    /// The planned actions of these kinds, in the order of their keys; a change of many rows takes seconds.
    private func keys(_ index: Int, _ kinds: Set<PlainPlan.Action.Kind>) throws -> [(PlainKey, PlainPlan.Action)] {
        var found: [(PlainKey, PlainPlan.Action)] = []
        for (offset, entry) in plan.actions[index].enumerated() {
            if offset.isMultiple(of: 4_096) { try shared.checkCancellation() }
            if kinds.contains(entry.value.kind) { found.append((entry.key, entry.value)) }
        }
        return try found.sorted(checking: shared.checkCancellation) { $0.0.precedes($1.0) }
    }

    private mutating func delete(_ index: Int) throws {
        let table = plan.layout.tables[index]
        for (key, _) in try keys(index, [.delete]) {
            let before = try isNoted(table) ? keep(table.knownRow(key, in: shared)) : nil
            try delete(key, table)
            try note(table, before: before, after: nil)
        }
        for (number, values) in try plan.removed[index]
            .sorted(checking: shared.checkCancellation, by: { $0.key < $1.key })
        {
            let row = SQLName.quoted(table.rowID ?? "rowid")
            try note(table, before: keep(values), after: nil)
            try run("DELETE FROM \(table.quotedName) WHERE \(row) = ?", [.integer(number)], table)
        }
    }

    private func delete(_ key: PlainKey, _ table: PlainTable) throws {
        try run("DELETE FROM \(table.quotedName) WHERE \(table.condition(inSource: false))", key.values, table)
    }

    /// Runs a statement that writes one row, and fails if it changed none: SQLite does not report that itself.
    private func run(_ sql: String, _ arguments: [SQLValue], _ table: PlainTable) throws {
        if isNoted(table), let recording {
            try recording.unseen { try shared.run(sql, arguments) }
        } else {
            try shared.run(sql, arguments)
        }
        guard shared.withHandle({ sqlite3_changes64($0) }) == 1 else { throw table.lostRow(in: shared) }
    }

    private mutating func update(_ index: Int) throws {
        let table = plan.layout.tables[index]
        for (key, action) in try keys(index, [.update]) {
            let source = try oldRow(action.source, index)
            let values = action.updated(source, from: source)
            let written = columnsToNote(action.columns, table)
            let before = try isNoted(table) ? keep(table.knownRow(key, in: shared), written) : nil
            let count = key.values.count
            let list = action.columns.enumerated()
                .map { "\(SQLName.quoted(table.columns[$0.element])) = ?\(count + $0.offset + 1)" }
            do {
                // The table's own conflict clause may skip or replace rows; this statement must fail instead.
                try run(
                    "UPDATE OR ABORT \(table.quotedName) SET \(list.joined(separator: ", ")) "
                        + "WHERE \(table.condition(inSource: false))",
                    key.values + action.columns.map { values[$0] },
                    table
                )
            } catch {
                guard let kind = refusal else { throw error }
                guard kind == .unique else {
                    rejections.append(MergeRejection(of: .updated, in: table.name))
                    try park(
                        table.parked(
                            .old,
                            action.source,
                            at: key,
                            oldValues(action.source, index),
                            .constraint,
                            from: [old]
                        )
                    )
                    continue
                }
                // The rejected statement left the row unchanged.
                let former = try table.knownRow(key, in: shared, isWhole: true)
                var row = former
                for column in action.columns { row[column] = values[column] }
                waiting.append((index, action.source, former, row))
                continue
            }
            guard before != nil else { continue }
            let after = try table.knownRow(key, in: shared)
            try note(table, written, before: before, after: (written ?? Array(after.indices)).map { after[$0] })
        }
    }

    /// The columns that are recorded of an update in place; nil if the update may exchange unique values.
    private func columnsToNote(_ columns: [Int], _ table: PlainTable) -> [Int]? {
        let fixed = Set(table.key + table.uniques.flatMap(\.columns))
        let isInPlace = !table.isVirtual && holdsLargeValues(table) && fixed.isDisjoint(with: columns)
        return isInPlace ? table.key + columns : nil
    }

    /// Rows that exchange unique values are deleted together, then inserted with their new values.
    private mutating func updateWaiting() throws {
        for part in waiting {
            let table = plan.layout.tables[part.table]
            try delete(table.key(of: part.former), table)
        }
        var refused: [Int] = []
        for (index, part) in waiting.enumerated() {
            let table = plan.layout.tables[part.table]
            do {
                try insert(part.row, table)
            } catch {
                guard refusal != nil else { throw error }
                refused.append(index)
                continue
            }
            try note(table, before: part.former.map { RecordedValue($0) }, after: part.row)
        }
        for index in refused {
            let part = waiting[index]
            let table = plan.layout.tables[part.table]
            rejections.append(MergeRejection(of: .updated, in: table.name))
            try park(
                table.parked(
                    .old,
                    part.source,
                    at: table.key(of: part.former),
                    oldValues(part.source, part.table),
                    .constraint,
                    from: [old]
                )
            )
            try insert(part.former, table)
        }
    }

    private mutating func insert(_ index: Int) throws {
        let table = plan.layout.tables[index]
        for (_, action) in try keys(index, [.insert, .restore]) {
            let values = try oldRow(action.source, index)
            let change: MergeRejection.Change = action.kind == .restore ? .restored : .inserted
            guard try insertOrPark(values, action.source, index, change) else { continue }
            try note(table, before: nil, after: values)
        }
        for values in plan.added[index] {
            guard try insertOrPark(values, PlainKey([]), index, .inserted) else { continue }
            try note(table, before: nil, after: values)
        }
    }

    private mutating func insertOrPark(
        _ values: [SQLValue],
        _ source: PlainKey,
        _ index: Int,
        _ change: MergeRejection.Change
    ) throws -> Bool {
        let table = plan.layout.tables[index]
        do {
            try insert(values, table)
            return true
        } catch {
            guard refusal != nil else { throw error }
            let row = table.isBag ? values : try oldValues(source, index)
            try park(table.parked(.old, source, at: nil, row, .constraint, from: [old]))
            rejections.append(MergeRejection(of: change, in: table.name))
            return false
        }
    }

    private func insert(_ values: [SQLValue], _ table: PlainTable) throws {
        let list = table.columns.map(SQLName.quoted).joined(separator: ", ")
        let places = table.columns.map { _ in "?" }.joined(separator: ", ")
        try run("INSERT OR ABORT INTO \(table.quotedName) (\(list)) VALUES (\(places))", values, table)
    }

    private func oldRow(_ source: PlainKey, _ index: Int) throws -> [SQLValue] {
        plan.mapped(try oldValues(source, index), in: index)
    }

    private func oldValues(_ source: PlainKey, _ index: Int) throws -> [SQLValue] {
        let table = plan.layout.tables[index]
        return try table.knownRow(source, in: old)
    }

    // MARK: Recording

    /// True if SQLite's session extension does not record the rows of the table.
    private func isNoted(_ table: PlainTable) -> Bool { table.isRecordedByHand || holdsLargeValues(table) }

    /// Planning read every row that is written, and so every large value of it.
    private func holdsLargeValues(_ table: PlainTable) -> Bool {
        [old, shared].contains { $0.referencesLargeValues(of: table.source) }
    }

    /// Copies columns of a row, or all of them, before they are overwritten; nil if nothing is recorded.
    private func keep(_ row: [SQLValue], _ columns: [Int]? = nil) throws -> [RecordedValue]? {
        try recording?.keep(columns?.map { row[$0] } ?? row, from: [shared])
    }

    /// Adds a row to the recording that SQLite's session extension does not see.
    private func note(
        _ table: PlainTable,
        _ columns: [Int]? = nil,
        before: [RecordedValue]?,
        after: [SQLValue]?
    ) throws {
        guard isNoted(table), let recording else { return }
        try recording.note(
            UnkeyedRow(
                table: table.name,
                keyColumns: table.key.map { table.columns[$0] },
                columns: columns?.map { table.columns[$0] } ?? table.columns,
                before: before,
                after: after?.map { RecordedValue($0) },
                isInPlace: columns != nil
            )
        )
    }

    private enum Refusal {
        case unique, other
    }

    /// The kind of constraint that rejected the last statement; nil if none did.
    private var refusal: Refusal? {
        let code = shared.withHandle { sqlite3_extended_errcode($0) }
        guard code & 0xff == SQLITE_CONSTRAINT else { return nil }
        // SQLITE_CONSTRAINT_UNIQUE, _PRIMARYKEY and _ROWID, macros that Swift does not import.
        return [8, 6, 10].contains(code >> 8) ? .unique : .other
    }
}
