package import SafeFiles
import StoreFormat

/// What a save did.
package struct SaveResult: Sendable {
    package let changes: SaveChanges
    /// The number of its transaction in history; nil where the store keeps none.
    package let transaction: Int64?
    /// External files of values that are gone, which could not be removed; they do no harm.
    package let filesLeft: [String]
}

extension RowWriter {
    /// Carries out one save in a transaction of its own: what `body` writes, its history, and the files of large values.
    ///
    /// Files are durable before the commit, and those of values that are gone are removed after it. When `body` or the
    /// commit fails, nothing of the save is left. The write lock is waited for until the deadline. `beforeCommit` comes last,
    /// when all is written and can still be undone. ``changes`` is empty afterwards: the result has them.
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
            connection.rollback()
            external?.discardWrittenFiles()
            throw error
        }
        do {
            try connection.commit(deadline: deadline)
        } catch {
            connection.rollback()
            // After a failed write nobody knows what a crash would leave: a file too many is safe, one too few is not.
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
}
