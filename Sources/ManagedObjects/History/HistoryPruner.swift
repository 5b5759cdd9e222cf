public import FoundationEssentials
internal import SafeFiles
public import StoreFormat
internal import StoreWriting

/// Purges only history that every registered consumer has acknowledged.
///
/// Consumers register before their first read. Nothing is purged while no consumer is registered, because an
/// unregistered reader may need it. If another program writes back older metadata, a consumer's number is lost; nothing
/// is purged until that consumer acknowledges again. A history mirrored to CloudKit is never purged: a mirror that
/// misses part of it uploads everything.
public struct HistoryPruner: BlockingCalls {
    /// The outcome of purging.
    public struct Result: Hashable, Sendable {
        public let transactions: Int
        public let changes: Int
        /// The number of registered consumers; without any, nothing is purged.
        public let consumers: Int
        /// The consumer that prevented purging more; nil when none did.
        public let slowestConsumer: String?
        /// True when CloudKit mirrors the store: its position in the history is unknown, so nothing is purged.
        public let isMirrored: Bool

        init(transactions: Int, changes: Int, consumers: Int, slowestConsumer: String?, isMirrored: Bool = false) {
            self.transactions = transactions
            self.changes = changes
            self.consumers = consumers
            self.slowestConsumer = slowestConsumer
            self.isMirrored = isMirrored
        }
    }

    private let coordinator: PersistentStoreCoordinator

    public init(_ coordinator: PersistentStoreCoordinator) {
        self.coordinator = coordinator
    }

    /// The consumers of a store, with the number of the last transaction that each has acknowledged.
    public func consumers(of store: PersistentStore) throws -> [String: Int64] {
        try attached(store).read { _, connection in try HistoryConsumers(reading: connection).transactionNumbers }
    }

    /// Registers a consumer at the end of the history; an already registered one keeps its position.
    public func register(_ consumer: String, for store: PersistentStore) throws {
        let attached = try attached(store)
        try change(attached) { consumers, connection in
            guard consumers.transactionNumbers[consumer] == nil else { return }
            consumers.transactionNumbers[consumer] = try attached.lastTransaction(connection)
        }
    }

    /// Records a consumer's position, which never moves backwards or beyond the end of the history.
    public func acknowledge(_ token: PersistentHistoryToken, by consumer: String, for store: PersistentStore) throws {
        guard let number = token.transactionNumbers[store.identifier] else { return }
        let attached = try attached(store)
        try change(attached) { consumers, connection in
            guard let known = consumers.transactionNumbers[consumer] else {
                throw ManagedObjectError(.foreignObject, "no consumer of that name is registered; register it first")
            }
            // Clamp a token of another store or of a copy that went on: its number lies beyond this history.
            let seen = try min(number, attached.lastTransaction(connection))
            consumers.transactionNumbers[consumer] = max(known, seen)
        }
    }

    /// Removes a consumer; if it registers again, it must read all objects again.
    public func drop(_ consumer: String, for store: PersistentStore) throws {
        try change(attached(store)) { consumers, _ in consumers.transactionNumbers[consumer] = nil }
    }

    /// Purges transactions that are older than `date` and acknowledged by every consumer.
    public func prune(_ store: PersistentStore, olderThan date: Date) throws -> Result {
        try transaction(attached(store)) { connection in
            let cut = try HistoryCut(reading: connection, olderThan: date)
            if let last = cut.last, cut.result.transactions > 0 || cut.result.changes > 0 {
                try connection.run("DELETE FROM ACHANGE WHERE ZTRANSACTIONID <= ?", [.integer(last)])
                try connection.run("DELETE FROM ATRANSACTION WHERE Z_PK <= ?", [.integer(last)])
            }
            return cut.result
        }
    }

    private func attached(_ store: PersistentStore) throws -> AttachedStore {
        guard let attached = coordinator.store(uuid: store.identifier) else {
            throw ManagedObjectError(.foreignObject, "the store is not open in this coordinator")
        }
        guard attached.contents.hasHistory else {
            throw ManagedObjectError(.foreignObject, "the store keeps no history: \(attached.location.path)")
        }
        return attached
    }

    private func change(
        _ store: AttachedStore,
        _ body: (inout HistoryConsumers, StoreConnection) throws -> Void
    ) throws {
        try transaction(store) { connection in
            var consumers = try HistoryConsumers(reading: connection)
            let before = consumers.transactionNumbers
            try body(&consumers, connection)
            guard consumers.transactionNumbers != before else { return }
            try MetadataWriter.update([HistoryConsumers.metadataKey: consumers.propertyList], in: connection)
            let schema = try StoreSchema(reading: connection)
            let writer = try HistoryWriter(connection, layout: store.contents.layout, schema: schema)
            for name in consumers.transactionNumbers.keys { try writer?.keep(HistoryConsumers.string(for: name)) }
            for name in before.keys where consumers.transactionNumbers[name] == nil {
                try writer?.drop(HistoryConsumers.string(for: name))
            }
        }
    }

    private func transaction<R: Sendable>(_ store: AttachedStore, _ body: (StoreConnection) throws -> R) throws -> R {
        try store.write { _, connection in
            try store.keepBooks(connection) { try body(connection) }
        }
    }
}
