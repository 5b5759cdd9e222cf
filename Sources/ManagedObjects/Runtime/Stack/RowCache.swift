import StoreAccess
public import StoreFormat

/// The cached rows of a store, one copy for all contexts.
///
/// A row stays cached while a context retains it. A newer row replaces an older one, never the reverse: a row that was read
/// before a change of the object, and arrives after it, is not kept.
struct RowCache {
    private struct Entry {
        /// Nil after the row was forgotten, until it is read again.
        var row: RowSnapshot?
        var uses: Int
    }

    /// The rows of a root entity, by primary key.
    private struct Table {
        /// The maximum number of changes that are remembered one by one.
        private static let mostChanges = 4096

        var entries: [Int64: Entry] = [:]
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

        /// Drops the value of a row unless it is newer than `time`.
        mutating func forget(_ key: Int64, olderThan time: ContinuousClock.Instant) {
            change(key, at: time)
            guard let entry = entries.index(forKey: key), let row = entries.values[entry].row, row.time <= time else {
                return
            }
            entries.values[entry].row = nil
        }

        /// The row, or nil if the object was changed since it was read.
        func current(_ row: RowSnapshot, _ key: Int64) -> RowSnapshot? {
            guard let change = changes[key] ?? lastOtherChange else { return row }
            return change > row.time ? nil : row
        }
    }

    /// By the name of the root entity.
    private var tables: [String: Table] = [:]

    /// The number of rows kept.
    var count: Int { tables.values.reduce(0) { $0 + $1.entries.count } }

    func row(of id: ManagedObjectID) -> RowSnapshot? {
        guard let key = id.primaryKey else { return nil }
        return tables[id.rootName]?.entries[key]?.row
    }

    /// The rows of several objects, in the order of the IDs.
    func rows(of ids: [ManagedObjectID]) -> [RowSnapshot?] {
        var (root, entries): (String?, [Int64: Entry]?)
        return ids.map { id in
            // Consecutive objects usually have the same table.
            if id.rootName != root { (root, entries) = (id.rootName, tables[id.rootName]?.entries) }
            return id.primaryKey.flatMap { entries?[$0]?.row }
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
            if uses > 0 { table.entries.reserveCapacity(table.entries.count + rows.endIndex - next) }
            while next < rows.endIndex, rows[next].id.rootName == root {
                let row = rows[next]
                next += 1
                guard let key = row.id.primaryKey else { continue }
                if areSaved { table.change(key, at: row.time) }
                if var entry = table.entries[key] {
                    entry.uses += uses
                    if let kept = entry.row {
                        if kept.time <= row.time { entry.row = row }
                    } else {
                        entry.row = table.current(row, key)
                    }
                    table.entries[key] = entry
                } else if uses > 0 {
                    table.entries[key] = Entry(row: table.current(row, key), uses: uses)
                }
            }
            tables[root] = table
        }
    }

    /// Releases a row.
    mutating func release(_ id: ManagedObjectID) {
        guard let key = id.primaryKey, let table = tables.index(forKey: id.rootName),
            let entry = tables.values[table].entries.index(forKey: key)
        else { return }
        if tables.values[table].entries.values[entry].uses > 1 {
            tables.values[table].entries.values[entry].uses -= 1
        } else {
            tables.values[table].entries.remove(at: entry)
        }
    }

    /// Drops the values of rows, even of retained ones, unless they are newer than `time`: the next access reads the
    /// store.
    mutating func forget(_ ids: some Collection<ManagedObjectID>, olderThan time: ContinuousClock.Instant? = nil) {
        let time = time ?? .now
        var (root, table): (String?, Dictionary<String, Table>.Index?)
        for id in ids {
            guard let key = id.primaryKey else { continue }
            if id.rootName != root {
                tables[id.rootName, default: Table()].forget(key, olderThan: time)
                (root, table) = (id.rootName, tables.index(forKey: id.rootName))
            } else if let table {
                tables.values[table].forget(key, olderThan: time)
            }
        }
    }
}

/// The stored values of one object: attributes and to-one destinations, without to-many ones.
package final class RowSnapshot: Sendable {
    package let id: ManagedObjectID
    /// The version (`Z_OPT`), which every save of the object increments.
    package let version: Int64
    /// Indexed as in the entity's shape; null for an attribute without a column.
    package let attributes: [AttributeValue]
    package let toOnes: [ManagedObjectID?]
    /// The time of the read or write.
    package let time: ContinuousClock.Instant

    package init(
        id: ManagedObjectID,
        version: Int64,
        attributes: [AttributeValue],
        toOnes: [ManagedObjectID?],
        time: ContinuousClock.Instant
    ) {
        self.id = id
        self.version = version
        self.attributes = attributes
        self.toOnes = toOnes
        self.time = time
    }

    /// The row with another time of its read or write.
    func read(at time: ContinuousClock.Instant) -> RowSnapshot {
        RowSnapshot(id: id, version: version, attributes: attributes, toOnes: toOnes, time: time)
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

/// The value of an attribute, or the destination of a to-one relationship.
public enum PropertyValue: Hashable, Sendable {
    case attribute(AttributeValue)
    case object(ManagedObjectID?)
}
