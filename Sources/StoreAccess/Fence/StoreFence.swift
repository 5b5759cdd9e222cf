/// The triggers with which an old store refuses writers after it was shared.
///
/// One trigger per table and kind of write, named `_store_migrate_fence_<tx>_<n>_<insert|update|delete>`, whose message
/// names the new path. Readers are not affected; the content digest excludes the fence.
public struct StoreFence: Hashable, Sendable, Codable {
    /// The prefix of the names of all fence triggers.
    package static let prefix = "_store_migrate_fence_"

    /// The transaction ID of the fence: 32 lower-case hexadecimal digits.
    public let transaction: String
    /// The new store's path in its message.
    public let newPath: String
    /// The number of its triggers.
    public let triggerCount: Int

    package init(transaction: String, newPath: String, triggerCount: Int) {
        self.transaction = transaction
        self.newPath = newPath
        self.triggerCount = triggerCount
    }
}

extension StoreFence {
    /// Reads the fence of a store; nil if there is none.
    package init?(reading connection: StoreConnection) throws {
        var transaction: String?
        var newPath: String?
        var count = 0
        // The prefix contains underscores, which are wildcards in LIKE.
        try connection.forEachRow(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND substr(name, 1, ?) = ? ORDER BY rowid",
            [.integer(Int64(Self.prefix.utf8.count)), .text(Self.prefix)]
        ) { row in
            guard let name = row.text(0), let found = Self.transaction(ofTrigger: name) else { return }
            // An interrupted run may leave two fences; the later one is valid.
            if found != transaction { count = 0 }
            transaction = found
            count += 1
            if let path = row.text(1).flatMap({ Self.newPath(inTrigger: $0, transaction: found) }) { newPath = path }
        }
        guard let transaction, let newPath else { return nil }
        self.init(transaction: transaction, newPath: newPath, triggerCount: count)
    }

    /// Throws if the store that `connection` is about to change has a fence.
    ///
    /// Writers that disable triggers must call this inside their transaction, because the fence itself cannot stop
    /// them.
    package static func requireNone(in connection: StoreConnection) throws {
        guard let fence = try StoreFence(reading: connection) else { return }
        throw StoreError(
            .fenced,
            path: connection.location.path,
            "the store was moved to \(fence.newPath), and takes no writes"
        )
    }

    /// The transaction in a trigger's name, `_store_migrate_fence_<tx>_<n>_<insert|update|delete>`.
    static func transaction(ofTrigger name: String) -> String? {
        guard name.hasPrefix(prefix) else { return nil }
        let parts = name.dropFirst(prefix.count).split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 3, Int(parts[1]) != nil, ["insert", "update", "delete"].contains(parts[2]) else {
            return nil
        }
        let digits = parts[0].utf8
        guard digits.count == 32,
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (97...102).contains($0) })
        else { return nil }
        return String(parts[0])
    }

    /// The new path in a trigger's message.
    static func newPath(inTrigger sql: String, transaction: String) -> String? {
        var tokens = SQLTokenizer(sql)
        while let token = tokens.next() {
            guard token.isWord("raise") else { continue }
            guard tokens.next() == .symbol(UInt8(ascii: "(")), let action = tokens.next(),
                action.isWord("abort") || action.isWord("rollback"),
                tokens.next() == .symbol(UInt8(ascii: ",")), case .quoted(let text) = tokens.next()
            else { return nil }
            // Compared by bytes: the path may begin with a combining character that would join with the space before
            // it.
            let message = text.utf8
            let start = "store moved to ".utf8
            let end = " (store-migrate \(transaction))".utf8
            guard message.count >= start.count + end.count, message.starts(with: start),
                message.suffix(end.count).elementsEqual(end)
            else { return nil }
            return String(decoding: message.dropFirst(start.count).dropLast(end.count), as: UTF8.self)
        }
        return nil
    }
}

extension StoreFence {
    /// Drops every trigger of a fence, inside the transaction that `connection` has open.
    package static func lift(in connection: StoreConnection) throws {
        var names: [String] = []
        try connection.forEachRow(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND substr(name, 1, ?) = ?",
            [.integer(Int64(prefix.utf8.count)), .text(prefix)]
        ) { row in
            if let name = row.text(0) { names.append(name) }
        }
        for name in names { try connection.execute("DROP TRIGGER \(SQLName.quoted(name))") }
    }
}
