import StoreAccess

/// The cached rows of a store, one copy for all contexts.
///
/// A row stays cached while a context retains it. A newer row replaces an older one, never the reverse: a row that was read
/// before a change of the object, and arrives after it, is not kept.
struct RowCache {
    /// A retained row, found in a set by its ID; eight bytes.
    private enum Entry: Hashable {
        case row(RowSnapshot)
        /// A retained row that was forgotten and not read again. It equals the entry of the row with this ID, and is used to
        /// search for that entry.
        case id(ManagedObjectID)

        var row: RowSnapshot? { if case .row(let row) = self { row } else { nil } }

        private var id: ManagedObjectID {
            switch self {
            case .row(let row): row.id
            case .id(let id): id
            }
        }

        static func == (first: Entry, second: Entry) -> Bool { first.id == second.id }
        func hash(into hasher: inout Hasher) { hasher.combine(id) }
    }

    /// The rows of a root entity, by primary key.
    private struct Table {
        /// The maximum number of changes that are remembered one by one.
        private static let mostChanges = 4096

        private(set) var entries: Set<Entry> = []
        /// The number of uses of a row beyond the first.
        private var furtherUses: [Int64: Int] = [:]
        /// The times of the latest changes, also of rows without a retain.
        private var changes: [Int64: ContinuousClock.Instant] = [:]
        private var lastChange: ContinuousClock.Instant?
        /// The time of the last change that is not remembered by itself.
        private var lastOtherChange: ContinuousClock.Instant?

        /// Remembers that the row was saved or forgotten at a time.
        mutating func change(_ key: Int64, at time: ContinuousClock.Instant) {
            if changes.count >= Self.mostChanges {
                changes.removeAll(keepingCapacity: true)
                lastOtherChange = lastChange
            }
            changes[key] = max(changes[key] ?? time, time)
            lastChange = max(lastChange ?? time, time)
        }

        func row(of id: ManagedObjectID) -> RowSnapshot? { entries.firstIndex(of: .id(id)).flatMap { entries[$0].row } }

        /// Reserves capacity for `count` more rows.
        mutating func reserve(_ count: Int) { entries.reserveCapacity(entries.count + count) }

        /// Keeps the newer of the cached and the given row, and adds `uses`; a row that is not cached and not used is not added.
        mutating func update(_ row: RowSnapshot, _ key: Int64, adding uses: Int) {
            let cached: Entry
            if uses > 0 {
                let (isNew, present) = entries.insert(current(row, key).map(Entry.row) ?? .id(row.id))
                let further = isNew ? uses - 1 : uses
                if further > 0 { furtherUses[key, default: 0] += further }
                if isNew { return }
                cached = present
            } else {
                guard let index = entries.firstIndex(of: .id(row.id)) else { return }
                cached = entries[index]
            }
            if let cachedRow = cached.row {
                if cachedRow.time <= row.time { entries.update(with: .row(row)) }
            } else if let row = current(row, key) {
                entries.update(with: .row(row))
            }
        }

        /// Removes one use of a row, and the row with its last one.
        mutating func release(_ id: ManagedObjectID, _ key: Int64) {
            guard let further = furtherUses[key] else {
                entries.remove(.id(id))
                return
            }
            furtherUses[key] = further > 1 ? further - 1 : nil
        }

        /// Drops the value of a row unless it is newer than `time`.
        mutating func forget(_ id: ManagedObjectID, _ key: Int64, olderThan time: ContinuousClock.Instant) {
            change(key, at: time)
            if let row = row(of: id), row.time <= time { entries.update(with: .id(id)) }
        }

        /// The row, or nil if the object was changed since it was read.
        private func current(_ row: RowSnapshot, _ key: Int64) -> RowSnapshot? {
            guard lastChange != nil, let change = changes[key] ?? lastOtherChange else { return row }
            return change > row.time ? nil : row
        }
    }

    /// By the name of the root entity.
    private var tables: [String: Table] = [:]

    /// The number of rows kept.
    var count: Int { tables.values.reduce(0) { $0 + $1.entries.count } }

    func row(of id: ManagedObjectID) -> RowSnapshot? { tables[id.rootName]?.row(of: id) }

    /// The rows of several objects, in the order of the IDs.
    func rows(of ids: [ManagedObjectID]) -> [RowSnapshot?] {
        var (root, table): (String?, Table?)
        return ids.map { id in
            // Consecutive objects usually have the same table.
            if id.rootName != root { (root, table) = (id.rootName, tables[id.rootName]) }
            return table?.row(of: id)
        }
    }

    /// Retains each row, and keeps the newer of the cached and the given row.
    mutating func retain(_ rows: [RowSnapshot]) { update(rows, adding: 1) }

    /// Updates rows that are cached; rows without a retain are not added.
    mutating func update(_ rows: [RowSnapshot]) { update(rows, adding: 0) }

    /// Updates cached rows to those of a save; the time of a row is that of the save.
    mutating func save(_ rows: [RowSnapshot]) { update(rows, adding: 0, areSaved: true) }

    private mutating func update(_ rows: [RowSnapshot], adding uses: Int, areSaved: Bool = false) {
        var next = rows.startIndex
        while next < rows.endIndex {
            // Rows are sorted by table: move each table out only once.
            let root = rows[next].id.rootName
            var table = tables.removeValue(forKey: root) ?? Table()
            if uses > 0 { table.reserve(rows.endIndex - next) }
            while next < rows.endIndex, rows[next].id.rootName == root {
                let row = rows[next]
                next += 1
                guard let key = row.id.primaryKey else { continue }
                if areSaved { table.change(key, at: row.time) }
                table.update(row, key, adding: uses)
            }
            tables[root] = table
        }
    }

    /// Releases a row.
    mutating func release(_ id: ManagedObjectID) {
        guard let key = id.primaryKey, let table = tables.index(forKey: id.rootName) else { return }
        tables.values[table].release(id, key)
    }

    /// Drops the values of rows, even of retained ones, unless they are newer than `time`: the next access reads the
    /// store.
    mutating func forget(_ ids: some Collection<ManagedObjectID>, olderThan time: ContinuousClock.Instant? = nil) {
        let time = time ?? .now
        var (root, table): (String?, Dictionary<String, Table>.Index?)
        for id in ids {
            guard let key = id.primaryKey else { continue }
            if id.rootName != root {
                tables[id.rootName, default: Table()].forget(id, key, olderThan: time)
                (root, table) = (id.rootName, tables.index(forKey: id.rootName))
            } else if let table {
                tables.values[table].forget(id, key, olderThan: time)
            }
        }
    }
}

/// A query for rows of an entity's objects, in SQL over the alias `t` of the entity's table.
struct RowQuery: Sendable {
    var entity: String
    var includesSubentities = true
    /// A condition; nil for all objects.
    var condition: String?
    var arguments: [SQLValue] = []
    /// The terms after ORDER BY; equal rows are ordered by key.
    var order: String?
    var limit: Int?
    var offset = 0
}
