package import SafeFiles

extension StoreConnection {
    /// Runs `body` in a read transaction, so that all reads see one state; an open transaction is used, and stays open.
    package func inReadTransaction<R>(_ body: () throws -> R) throws -> R {
        guard !isInTransaction else { return try body() }
        try beginReading()
        defer { rollback() }
        return try body()
    }

    /// Runs `body` in a transaction with the write lock, and commits it unless `body` throws.
    package func inTransaction<R>(until deadline: Deadline, _ body: () throws -> R) throws -> R {
        try beginWriting(deadline: deadline)
        do {
            let result = try body()
            try commit(deadline: deadline)
            return result
        } catch {
            rollback()
            throw error
        }
    }
}
