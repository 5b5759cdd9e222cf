import StoreAccess
public import StoreFormat

/// The cached rows of a store, one copy for all contexts.
///
/// A row stays cached while a context retains it. A newer row replaces an older one, never the reverse.
struct RowCache {
    private struct Entry {
        /// Nil after the row was forgotten, until it is read again.
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

    /// The rows of several objects, in the order of the IDs.
    func rows(of ids: [ManagedObjectID]) -> [RowSnapshot?] {
        var (root, table): (String?, [Int64: Entry]?)
        return ids.map { id in
            // Consecutive objects usually have the same table.
            if id.rootName != root { (root, table) = (id.rootName, tables[id.rootName]) }
            return id.primaryKey.flatMap { table?[$0]?.row }
        }
    }

    /// Retains each row, and keeps the newer of the cached and the given row.
    mutating func retain(_ rows: [RowSnapshot]) { update(rows, adding: 1) }

    /// Updates rows that are cached; rows without a retain are not added.
    mutating func update(_ rows: [RowSnapshot]) { update(rows, adding: 0) }

    private mutating func update(_ rows: [RowSnapshot], adding uses: Int) {
        var next = rows.startIndex
        while next < rows.endIndex {
            // Rows are sorted by table: move each table out only once.
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

    /// Releases a row.
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

    /// Drops the values of rows, even of retained ones, unless they are newer than `time`: the next access reads the
    /// store.
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
