package import SafeFiles

extension StoreConnection {
    /// Runs `body` in a transaction that holds the write lock, and commits it unless it throws.
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
