import StoreAccess
import StoreFormat

/// The changes of a save to the tables of a store: object rows, join table pairs, and unexpected changes.
struct RowChanges {
    /// The change of an object's row.
    enum Fate: Hashable, CustomStringConvertible {
        case came
        case went
        /// The columns that differ, including the version.
        case changed(Set<String>)

        var description: String {
            switch self {
            case .came: "came"
            case .went: "went"
            case .changed(let columns): columns.sorted().joined(separator: ",")
            }
        }
    }

    private(set) var rows: [PlainReading.Row: Fate] = [:]
    /// The inserted and deleted pairs of each table, by both keys in column order.
    private(set) var joins: [String: [[Int64]: Fate]] = [:]
    /// Changes that no save may make.
    private(set) var problems: [String] = []

    var isEmpty: Bool { rows.isEmpty && joins.isEmpty && problems.isEmpty }

    init(from before: PlainReading, to after: PlainReading) {
        let derived = Set(
            before.names.model.entitiesByName.values.flatMap { entity in
                entity.attributes.filter(\.isDerived).compactMap { before.names.column(entity.name, $0.name) }
            }
        )
        let model = Set(before.names.model.entitiesByName.keys.map(before.names.table(of:)))
        var other: [PlainTables.Change] = []
        for change in before.tables.changes(to: after.tables) {
            if model.contains(change.table) {
                let row = PlainReading.Row(table: change.table, key: change.rowID)
                // Derived columns are updated by triggers.
                rows[row] =
                    change.before == nil
                    ? .came : change.after == nil ? .went : .changed(change.columns.subtracting(derived))
                checkVersion(change)
            } else if change.table.hasPrefix("Z_"), change.table.dropFirst(2).first?.isNumber == true {
                join(change, before.tables)
            } else {
                other.append(change)
            }
        }
        checkKeys(other.filter { $0.table == "Z_PRIMARYKEY" }, before, after)
        let history = HistoryRows(
            other.filter { ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"].contains($0.table) }
        )
        problems += history.problems(telling: rows, before, after)
        let rest = Set(other.map(\.table))
            .subtracting(["Z_PRIMARYKEY", "ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"])
        problems += rest.sorted().map { "\($0) changed" }
    }

    /// Checks a row's version: 1 when inserted, incremented by every change.
    private mutating func checkVersion(_ change: PlainTables.Change) {
        guard let after = change.after else { return }
        let expected = change.before.map { ($0["Z_OPT"]?.integer ?? 0) + 1 } ?? 1
        if after["Z_OPT"]?.integer != expected { problems.append("the version of a row of \(change.table)") }
        if let before = change.before, before["Z_ENT"] != after["Z_ENT"] { problems.append("the entity of a row") }
    }

    private mutating func join(_ change: PlainTables.Change, _ tables: PlainTables) {
        let columns = (tables.tables[change.table]?.columns ?? []).filter { !$0.hasPrefix("Z_FOK") }
        func key(_ row: [String: SQLValue]) -> [Int64] { columns.map { row[$0]?.integer ?? 0 } }
        if let before = change.before, change.after == nil { joins[change.table, default: [:]][key(before)] = .went }
        if let after = change.after, change.before == nil { joins[change.table, default: [:]][key(after)] = .came }
        if change.before != nil, change.after != nil { problems.append("a pair of \(change.table) changed") }
    }

    /// Checks the greatest keys: raised only for root entities with inserted objects, and for history.
    private mutating func checkKeys(_ changes: [PlainTables.Change], _ before: PlainReading, _ after: PlainReading) {
        for change in changes {
            guard change.columns == ["Z_MAX"], let name = change.after?["Z_NAME"]?.text else {
                problems.append("Z_PRIMARYKEY")
                continue
            }
            let isHistory = name == "CHANGE" || name.hasPrefix("TRANSACTION")
            let table = isHistory ? "A" + name : before.names.table(of: name)
            let greatest = after.tables.tables[table]?.rows.keys.max() ?? 0
            let came = rows.contains { $0.key.table == table && $0.value == .came }
            let isRoot = isHistory || before.names.root(name) == name
            guard isRoot, isHistory || came, change.after?["Z_MAX"]?.integer == greatest else {
                problems.append("the greatest key of \(name)")
                continue
            }
        }
        for row in rows where row.value == .came {
            let isRaised = changes.contains { $0.after?["Z_NAME"]?.text.map(before.names.table(of:)) == row.key.table }
            if !isRaised { problems.append("no key was reserved for a row of \(row.key.table)") }
        }
    }
}
