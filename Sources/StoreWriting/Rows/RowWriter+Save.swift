package import SafeFiles
package import StoreAccess

/// The result of a save.
package struct SaveResult: Sendable {
    package let changes: SaveChanges
    /// The number of its transaction in history; nil where the store keeps none.
    package let transaction: Int64?
    /// External files of deleted values that could not be removed; they do no harm.
    package let filesLeft: [String]
}

extension RowWriter {
    /// Executes one save in a transaction of its own: the writes of `body`, history, and the files of large values.
    ///
    /// Files are durable before the commit, and files of deleted values are removed after it. If `body` or the commit
    /// fails, the whole save is rolled back. The write lock is awaited until the deadline. `beforeCommit` runs last,
    /// when all is written and can still be rolled back. ``changes`` is empty afterwards: the result has them.
    package func save(
        from origin: HistoryWriter.Origin,
        deadline: Deadline,
        _ body: () throws -> Void,
        beforeCommit: () throws -> Void = {}
    ) throws -> SaveResult {
        beginSave()
        defer { beginSave() }
        try connection.beginWriting(deadline: deadline)
        let transaction: Int64?
        do {
            try requireSchema()
            try body()
            transaction = try finishSave(from: origin)
            try beforeCommit()
        } catch {
            rollBack()
            external?.discardWrittenFiles()
            throw error
        }
        do {
            try connection.commit(deadline: deadline)
        } catch {
            rollBack()
            // After a failed write the state after a crash is unknown: a surplus file is harmless, a missing one is
            // not.
            if (error as? StoreError)?.code == .busy { external?.discardWrittenFiles() }
            throw error
        }
        let left = abandonedFiles.filter { name in
            do {
                try external?.remove(name)
                return external == nil
            } catch {
                return true
            }
        }
        return SaveResult(changes: changes, transaction: transaction, filesLeft: left)
    }

    private func rollBack() {
        connection.rollback()
        forgetSchema()
    }
}

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
