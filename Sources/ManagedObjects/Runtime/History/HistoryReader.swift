public import FoundationEssentials
public import StoreAccess
public import StoreFormat

/// Reads a store's persistent history without a coordinator and without any write, not even of the `-shm` file.
///
/// Includes the WAL. Each call reads one snapshot of the store. Every method throws `StoreError` with the code
/// `plainStore` for a store that is not Core Data's.
public struct HistoryReader: BlockingCalls {
    private let reading: StoreReading

    /// Creates a reader that waits for a lock up to `lockTimeout` and calls `isCancelled` regularly.
    public init(
        lockTimeout: Duration = .seconds(20),
        allowsNetworkFileSystem: Bool = false,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) {
        reading = StoreReading(
            lockTimeout: lockTimeout,
            allowsNetworkFileSystem: allowsNetworkFileSystem,
            isCancelled: isCancelled
        )
    }

    /// Summarizes the history; nil for a store without history.
    public func overview(of location: StoreLocation) throws -> HistoryOverview? {
        try withHistory(of: location) { history, connection in
            HistoryOverview(
                extent: try history.summary(reading: connection),
                authors: try history.authors(reading: connection),
                consumers: try HistoryConsumers(reading: connection).transactionNumbers
            )
        }
    }

    /// The history that ``HistoryPruner`` would purge; nil for a store without history.
    public func prunableHistory(of location: StoreLocation, olderThan date: Date) throws -> HistoryPruner.Result? {
        try withHistory(of: location) { _, connection in try HistoryCut(reading: connection, olderThan: date).result }
    }

    /// True when the history mentions an author; for nil, true when it has transactions without an author.
    public func knowsAuthor(_ author: String?, in location: StoreLocation) throws -> Bool {
        try withHistory(of: location) { try $0.knowsAuthor(author, reading: $1) } ?? false
    }

    /// Calls `body` with the description of each requested transaction.
    ///
    /// `describe` may be called for transactions that `body` never receives: the read restarts when the store is
    /// written meanwhile. A store without history has no transactions.
    public func forEachTransaction(
        _ request: HistoryRequest,
        in location: StoreLocation,
        describedBy describe: (HistoryEntry) throws -> String,
        _ body: (String) throws -> Void
    ) throws {
        let spool = try withHistory(of: location) { history, connection in
            let spool = FetchSpool()
            try forEachTransaction(request, of: history, connection) { try spool.append(describe($0)) }
            return spool
        }
        try spool?.forEachText(body)
    }

    /// Stops reading at the requested limit.
    private struct Enough: Error {}

    private func forEachTransaction(
        _ request: HistoryRequest,
        of history: PersistentHistory,
        _ connection: StoreConnection,
        _ body: (HistoryEntry) throws -> Void
    ) throws {
        let model = try ManagedObjectModel(cachedIn: connection)
        let recorded = try EntityNumbers(reading: connection)
        let names = model.flatMap { recorded?.named(by: $0) } ?? recorded
        var count = 0
        do {
            try history.forEachTransaction(reading: connection, after: request.after) { transaction in
                try reading.checkCancellation()
                guard request.authors.includes(transaction.author) else { return }
                var entry = HistoryEntry(
                    transactionNumber: transaction.number,
                    timestamp: transaction.timestamp.map(Date.init(timeIntervalSinceReferenceDate:)),
                    author: transaction.author,
                    contextName: transaction.contextName,
                    bundleID: transaction.bundleID,
                    processID: transaction.processID
                )
                try history.forEachChange(reading: connection, ofTransaction: transaction.number) { change in
                    guard let kind = change.kind, let number = change.entity else { return }
                    entry.count(kind.changeType, of: names?.entry(number)?.name ?? String(number))
                }
                try body(entry)
                count += 1
                if count == request.limit { throw Enough() }
            }
        } catch is Enough {
            // The limit is reached.
        }
    }

    private func withHistory<R>(
        of location: StoreLocation,
        _ body: (PersistentHistory, StoreConnection) throws -> R
    ) throws -> R? {
        try reading.read(location) { view in
            guard try StoreMetadata(reading: view.connection) != nil else {
                throw StoreError(
                    .plainStore,
                    path: location.path,
                    "a plain SQLite store records no history"
                )
            }
            guard let history = PersistentHistory(schema: try StoreSchema(reading: view.connection)) else { return nil }
            return try body(history, view.connection)
        }
    }
}

extension HistoryChange.Kind {
    /// The corresponding case of the public interface.
    var changeType: PersistentHistoryChange.ChangeType {
        switch self {
        case .insert: .insert
        case .update: .update
        case .delete: .delete
        }
    }
}

/// One transaction of a store's history, with its changes counted per entity.
public struct HistoryEntry: Sendable {
    /// The number of objects of one entity that a transaction changed.
    public struct Changes: Hashable, Sendable {
        /// The concrete entity's name; a number where the store no longer has that entity.
        public let entity: String
        public fileprivate(set) var inserted: Int64 = 0
        public fileprivate(set) var updated: Int64 = 0
        public fileprivate(set) var deleted: Int64 = 0
    }

    public let transactionNumber: Int64
    public let timestamp: Date?
    public let author: String?
    public let contextName: String?
    public let bundleID: String?
    /// The name of the process.
    public let processID: String?
    /// In the order in which the transaction first changed each entity.
    public internal(set) var changes: [Changes] = []

    mutating func count(_ kind: PersistentHistoryChange.ChangeType, of entity: String) {
        var index = changes.firstIndex { $0.entity == entity } ?? changes.endIndex
        if index == changes.endIndex {
            changes.append(Changes(entity: entity))
            index = changes.endIndex - 1
        }
        switch kind {
        case .insert: changes[index].inserted += 1
        case .update: changes[index].updated += 1
        case .delete: changes[index].deleted += 1
        }
    }
}

/// A request for transactions of a store's history, in the order of their numbers.
public struct HistoryRequest: Sendable {
    public var authors: HistoryAuthors = .everybody
    /// The number of the transaction before the first result; 0 starts with the first one that was not purged.
    public var after: Int64 = 0
    /// The maximum number of results; 0 for no limit.
    public var limit = 0

    public init() {}
}

/// The extent of a store's history, its authors and its consumers.
public struct HistoryOverview: Sendable {
    public let extent: HistorySummary
    /// In the order of their first transactions.
    public let authors: [HistoryAuthorSummary]
    /// The registered consumers, with the last transaction that each has acknowledged.
    public let consumers: [String: Int64]
}
