internal import StoreFormat

/// The rows of a store that contexts hold objects of, one copy for all contexts.
///
/// A row stays as long as a context counts on it. What is read anew replaces what was read earlier, never the reverse.
struct RowCache {
    private struct Entry {
        /// Nil once it was forgotten, until somebody reads it again.
        var row: RowSnapshot?
        var uses: Int
    }

    /// By the name of the root entity and the primary key.
    private var tables: [String: [Int64: Entry]] = [:]

    /// The number of rows kept.
    var count: Int { tables.values.reduce(0) { $0 + $1.count } }

    func row(of id: ManagedObjectID) -> RowSnapshot? {
        guard let key = id.primaryKey else { return nil }
        return tables[id.rootName]?[key]?.row
    }

    /// The same of several objects, each in its place.
    func rows(of ids: [ManagedObjectID]) -> [RowSnapshot?] {
        var (root, table): (String?, [Int64: Entry]?)
        return ids.map { id in
            // The tables of neighbours are the same more often than not.
            if id.rootName != root { (root, table) = (id.rootName, tables[id.rootName]) }
            return id.primaryKey.flatMap { table?[$0]?.row }
        }
    }

    /// Counts one more user of each row, and keeps the newer of what is there and what comes in.
    mutating func retain(_ rows: [RowSnapshot]) { update(rows, adding: 1) }

    /// Replaces rows that are kept; rows that nobody counts on are not taken in.
    mutating func update(_ rows: [RowSnapshot]) { update(rows, adding: 0) }

    private mutating func update(_ rows: [RowSnapshot], adding uses: Int) {
        var next = rows.startIndex
        while next < rows.endIndex {
            // Rows come table by table: each table is taken out once.
            let root = rows[next].id.rootName
            var table = tables.removeValue(forKey: root) ?? [:]
            if uses > 0 { table.reserveCapacity(table.count + rows.endIndex - next) }
            while next < rows.endIndex, rows[next].id.rootName == root {
                let row = rows[next]
                next += 1
                guard let key = row.id.primaryKey else { continue }
                if var entry = table[key] {
                    entry.uses += uses
                    if entry.row.map({ $0.time <= row.time }) ?? true { entry.row = row }
                    table[key] = entry
                } else if uses > 0 {
                    table[key] = Entry(row: row, uses: uses)
                }
            }
            tables[root] = table
        }
    }

    /// Counts one user less.
    mutating func release(_ id: ManagedObjectID) {
        guard let key = id.primaryKey, let table = tables.index(forKey: id.rootName),
            let entry = tables.values[table].index(forKey: key)
        else { return }
        if tables.values[table].values[entry].uses > 1 {
            tables.values[table].values[entry].uses -= 1
        } else {
            tables.values[table].remove(at: entry)
        }
    }

    /// Forgets what rows held, whoever counts on them, unless they are younger than that: the next to ask reads the store.
    mutating func forget(_ ids: some Collection<ManagedObjectID>, olderThan time: ContinuousClock.Instant? = nil) {
        var (root, table): (String?, Dictionary<String, [Int64: Entry]>.Index?)
        for id in ids {
            if id.rootName != root { (root, table) = (id.rootName, tables.index(forKey: id.rootName)) }
            guard let table, let key = id.primaryKey, let entry = tables.values[table].index(forKey: key) else {
                continue
            }
            if let time, let row = tables.values[table].values[entry].row, row.time > time { continue }
            tables.values[table].values[entry].row = nil
        }
    }
}
