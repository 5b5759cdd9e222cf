package import StoreFormat

extension RowWriter {
    /// Inserts rows of one entity and returns the new objects; only ``changes`` and history record them.
    ///
    /// Only attributes can be set, as in Core Data's own batch insertion.
    package func batchInsert(_ entity: String, _ rows: some Sequence<[String: SQLValue]>) throws -> [ObjectKey] {
        var keys: [ObjectKey] = []
        for row in rows {
            let key = ObjectKey(entity: entity, primaryKey: try allocateKeys(for: entity, count: 1))
            try insert(key, row)
            keys.append(key)
        }
        return keys
    }

    /// Sets the same values on many objects, regardless of their versions, and returns those that exist.
    package func batchUpdate(_ keys: some Sequence<ObjectKey>, _ values: [String: SQLValue]) throws -> [ObjectKey] {
        try keys.filter { key in
            guard try version(of: key) != nil else { return false }
            try update(key, values)
            return true
        }
    }

    /// Deletes many objects with their cascades, regardless of their versions, and returns all deleted ones.
    ///
    /// Delete rules apply as in ``delete(_:)``, so that no key dangles (our choice).
    package func batchDelete(_ keys: some Sequence<ObjectKey>) throws -> [ObjectKey] {
        let count = changes.deleted.count
        try delete(keys.filter { try version(of: $0) != nil })
        return Array(changes.deleted.dropFirst(count))
    }
}
