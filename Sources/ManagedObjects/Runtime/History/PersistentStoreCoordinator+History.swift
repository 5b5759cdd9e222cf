internal import FoundationEssentials
internal import StoreAccess
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

extension AttachedStore {
    /// The number of the last transaction; nil for a store without history tracking.
    func lastTransaction() throws -> Int64? {
        guard contents.hasHistory else { return nil }
        return try read { _, connection in try lastTransaction(connection) }
    }

    func lastTransaction(_ connection: StoreConnection) throws -> Int64 {
        // Z_MAX includes purged transactions, whose numbers are never reused.
        let greatest = try connection.value("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'TRANSACTION'")?.integer ?? 0
        return max(greatest, try connection.value("SELECT max(Z_PK) FROM ATRANSACTION")?.integer ?? 0)
    }

    /// Calls `body` with each transaction after a number, in order.
    ///
    /// Throws ``ManagedObjectError/Code/historyTokenExpired`` when transactions after that number were purged.
    func forEachTransaction(
        after number: Int64?,
        by authors: HistoryAuthors,
        _ body: (PersistentHistoryTransaction) throws -> Void
    ) throws {
        guard let history = contents.history else { return }
        try read { _, connection in
            try connection.beginReading()
            defer { connection.rollback() }
            if let number { try requireKept(after: number, connection) }
            try history.forEachTransaction(reading: connection, after: number ?? 0) { transaction in
                guard authors.includes(transaction.author) else { return }
                var changes: [PersistentHistoryChange] = []
                try history.forEachChange(reading: connection, ofTransaction: transaction.number) { change in
                    if let change = self.change(change) { changes.append(change) }
                }
                try body(
                    PersistentHistoryTransaction(
                        storeID: uuid,
                        transactionNumber: transaction.number,
                        timestamp: transaction.timestamp.map(Date.init(timeIntervalSinceReferenceDate:)),
                        author: transaction.author,
                        contextName: transaction.contextName,
                        bundleID: transaction.bundleID,
                        processID: transaction.processID,
                        changes: changes
                    )
                )
            }
        }
    }

    private func requireKept(after number: Int64, _ connection: StoreConnection) throws {
        // The last purged transaction. The clamp prevents overflow: in a damaged store the first number may be
        // Int64.min.
        let first = try connection.value("SELECT min(Z_PK) FROM ATRANSACTION")?.integer
        let purged = try first.map { max($0, .min + 1) - 1 } ?? lastTransaction(connection)
        guard number >= purged else {
            throw ManagedObjectError(
                .historyTokenExpired,
                "history after transaction \(number) was purged; read all objects again and use the current token: "
                    + location.path
            )
        }
    }

    private func change(_ change: HistoryChange) -> PersistentHistoryChange? {
        guard let kind = change.kind, let key = change.primaryKey,
            let entity = change.entity.flatMap(contents.layout.entity(numbered:))
        else { return nil }
        let properties = change.properties(in: contents.layout)
        var tombstone: [String: AttributeValue] = [:]
        for (name, value) in change.tombstoneValues(in: contents.layout) {
            tombstone[name] = entity.attribute(name).flatMap { AttributeValue(value, as: $0.description.type) }
        }
        return PersistentHistoryChange(
            changeID: change.number,
            changedObjectID: ManagedObjectID(
                entity: entity.name,
                root: entity.root,
                storeUUID: uuid,
                primaryKey: key
            ),
            changeType: kind.changeType,
            updatedProperties: properties.map { Set($0.names) },
            possiblyUpdatedProperties: Set(properties?.possibleToMany ?? []),
            tombstone: tombstone
        )
    }
}
