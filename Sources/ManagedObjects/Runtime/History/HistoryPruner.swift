public import FoundationEssentials
internal import SafeFiles
public import StoreAccess
internal import StoreFormat
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

/// The part of a history that may be purged: old enough, and acknowledged by every registered consumer.
struct HistoryCut {
    /// The last transaction that may be purged; nil when no consumer is registered, and thus nothing may be.
    let last: Int64?
    let result: HistoryPruner.Result

    /// Computes the cut in the snapshot that the connection reads.
    init(reading connection: StoreConnection, olderThan date: Date) throws {
        let consumers = try HistoryConsumers(reading: connection).transactionNumbers
        guard let slowest = consumers.min(by: { ($0.value, $0.key) < ($1.value, $1.key) }) else {
            last = nil
            result = HistoryPruner.Result(transactions: 0, changes: 0, consumers: 0, slowestConsumer: nil)
            return
        }
        let mirror = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name LIKE 'ANSCK%' LIMIT 1"
        guard try connection.value(mirror) == nil else {
            last = nil
            result = HistoryPruner.Result(
                transactions: 0,
                changes: 0,
                consumers: consumers.count,
                slowestConsumer: nil,
                isMirrored: true
            )
            return
        }
        // Timestamps need not ascend with numbers: stop before the first transaction that is too young.
        let young = try connection.value(
            "SELECT min(Z_PK) FROM ATRANSACTION WHERE ZTIMESTAMP >= ? OR ZTIMESTAMP IS NULL",
            // A date that is NaN purges nothing.
            [.real(date.timeIntervalSinceReferenceDate.isNaN ? -.infinity : date.timeIntervalSinceReferenceDate)]
        )?
        .integer
        let byAge =
            try young.map { max($0, .min + 1) - 1 } ?? connection.value("SELECT max(Z_PK) FROM ATRANSACTION")?.integer
            ?? 0
        let last = min(slowest.value, byAge)
        self.last = last
        let count = { (rows: String) in
            Int(clamping: try connection.value("SELECT count(*) FROM " + rows, [.integer(last)])?.integer ?? 0)
        }
        result = HistoryPruner.Result(
            transactions: try count("ATRANSACTION WHERE Z_PK <= ?"),
            changes: try count("ACHANGE WHERE ZTRANSACTIONID <= ?"),
            consumers: consumers.count,
            slowestConsumer: slowest.value < byAge ? slowest.key : nil
        )
    }
}

/// The consumers of a store's history, with the last transaction that each has acknowledged.
///
/// The store's metadata contains them, so they move with the store and change in one transaction with the history. A
/// program unaware of them may write back older metadata, as Core Data does for an app that sets metadata. Therefore
/// the history's string table names each consumer too. A consumer found only there counts as having acknowledged
/// nothing. The first generation of histories has no string table, only the metadata.
struct HistoryConsumers {
    static let metadataKey = "StoreMigrateHistoryConsumers"
    private static let prefix = "StoreMigrateHistoryConsumer "

    var transactionNumbers: [String: Int64]

    /// Reads the consumers of a store.
    init(reading connection: StoreConnection) throws {
        transactionNumbers = [:]
        if case .dictionary(let values)? = try StoreMetadata(reading: connection)?.values[Self.metadataKey] {
            for case (let name, .integer(let number)) in values { transactionNumbers[name] = number }
        }
        let table = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'ATRANSACTIONSTRING'"
        guard try connection.value(table) != nil else { return }
        try connection.forEachRow(
            "SELECT ZNAME FROM ATRANSACTIONSTRING WHERE substr(ZNAME, 1, ?) = ?",
            [.integer(Int64(Self.prefix.count)), .text(Self.prefix)]
        ) { row in
            guard let string = row.text(0) else { return }
            let name = String(String.UnicodeScalarView(string.unicodeScalars.dropFirst(Self.prefix.count)))
            if transactionNumbers[name] == nil { transactionNumbers[name] = 0 }
        }
    }

    /// The consumers as a metadata value; nil for none.
    var propertyList: PropertyListValue? {
        transactionNumbers.isEmpty ? nil : .dictionary(transactionNumbers.mapValues { .integer($0) })
    }

    /// The entry for a consumer in the history's string table.
    static func string(for consumer: String) -> String { prefix + consumer }
}

/// The authors whose transactions are included.
public enum HistoryAuthors: Sendable, Hashable {
    case everybody
    /// Only transactions of these authors; nil stands for transactions without an author.
    case only(Set<String?>)
    /// All transactions except these authors'; use another author for your own batch changes, or they are skipped too.
    case allBut(Set<String?>)

    func includes(_ author: String?) -> Bool {
        switch self {
        case .everybody: true
        case .only(let authors): authors.contains(author)
        case .allBut(let authors): !authors.contains(author)
        }
    }
}
