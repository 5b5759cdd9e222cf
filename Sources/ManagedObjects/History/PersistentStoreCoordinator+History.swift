internal import StoreFormat

extension PersistentStoreCoordinator {
    /// The position after everything that has happened, in all stores that keep a history.
    public func currentPersistentHistoryToken() throws -> PersistentHistoryToken {
        var token = PersistentHistoryToken(transactionNumbers: [:])
        for store in stores { token.transactionNumbers[store.uuid] = try store.lastTransaction() }
        return token
    }

    /// Calls `body` with each transaction after a token, store by store and in order; nil is from the first that is kept.
    ///
    /// Transactions are counted by their numbers, never by their times, which clocks may set back. `body` must not use the
    /// coordinator: the store is being read.
    public func forEachHistoryTransaction(
        after token: PersistentHistoryToken?,
        by authors: HistoryAuthors = .everybody,
        _ body: (PersistentHistoryTransaction) throws -> Void
    ) throws {
        for store in stores {
            try store.forEachTransaction(after: token?.transactionNumbers[store.uuid], by: authors, body)
        }
    }

    /// The transactions after a token; for more than memory holds there is ``forEachHistoryTransaction(after:by:_:)``.
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
    /// Takes in what others did after a token, transaction by transaction, and returns the token to go on from.
    ///
    /// What was passed over for its author counts as seen.
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
