internal import StoreFormat

extension PersistentStoreCoordinator {
    /// The current end of the histories of all stores that track history.
    public func currentPersistentHistoryToken() throws -> PersistentHistoryToken {
        var token = PersistentHistoryToken(transactionNumbers: [:])
        for store in stores { token.transactionNumbers[store.uuid] = try store.lastTransaction() }
        return token
    }

    /// Calls `body` with each transaction after a token, store by store and in order; nil starts with the first not
    /// purged.
    ///
    /// Transactions are ordered by number, never by time, because clocks may be set back. `body` must not use the
    /// coordinator while it reads the store.
    public func forEachHistoryTransaction(
        after token: PersistentHistoryToken?,
        by authors: HistoryAuthors = .everybody,
        _ body: (PersistentHistoryTransaction) throws -> Void
    ) throws {
        for store in stores {
            try store.forEachTransaction(after: token?.transactionNumbers[store.uuid], by: authors, body)
        }
    }

    /// The transactions after a token; ``forEachHistoryTransaction(after:by:_:)`` handles more than memory can hold.
    public func fetchHistory(
        after token: PersistentHistoryToken?,
        by authors: HistoryAuthors = .everybody
    ) throws -> [PersistentHistoryTransaction] {
        var result: [PersistentHistoryTransaction] = []
        try forEachHistoryTransaction(after: token, by: authors) { result.append($0) }
        return result
    }
}

extension ManagedObjectContext {
    /// Merges other contexts' and processes' transactions after a token, one by one, and returns the token to continue
    /// from.
    ///
    /// Transactions skipped for their author count as merged.
    public func mergeHistory(
        after token: PersistentHistoryToken?,
        by authors: HistoryAuthors = .everybody
    ) throws -> PersistentHistoryToken {
        let current = try persistentStoreCoordinator.currentPersistentHistoryToken()
        for transaction in try persistentStoreCoordinator.fetchHistory(after: token, by: authors)
        where transaction.transactionNumber <= current.transactionNumbers[transaction.storeID] ?? 0 {
            let changes = transaction.objectIDNotification()
            persistentStoreCoordinator.forget(changes)
            try graph.merge(changes)
        }
        return token.map { $0.advanced(to: current) } ?? current
    }
}
