package import SafeFiles

extension StoreConnection {
    /// Runs `body` in a transaction that only reads, so that all it sees is of one state.
    package func inReadTransaction<R>(_ body: () throws -> R) throws -> R {
        try beginReading()
        defer { rollback() }
        return try body()
    }

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
