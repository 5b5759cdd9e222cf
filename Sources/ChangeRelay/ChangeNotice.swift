public import FoundationEssentials
package import StoreAccess
public import StoreFormat

/// A notice to other processes of what one save changed.
public struct ChangeNotice: Sendable, Hashable {
    /// What happened to the objects of a set.
    public enum Change: String, Sendable, Hashable, CaseIterable {
        case inserted
        case updated
        case deleted
        case refreshed
        case invalidated
    }

    /// What the receiver must do.
    public enum Content: Sendable, Hashable {
        /// Merge these objects.
        case objects([Change: [ObjectURI]])
        /// Read the store's persistent history up to this transaction.
        case history(through: Int64)
        /// Refresh all objects: the change is too large for a notice.
        case everything
    }

    /// A unique name of a notice.
    ///
    /// A writer that retries a post of unknown outcome uses the same key, and a receiver detects duplicates by it.
    public struct Key: Sendable, Hashable {
        /// The context, process or other source of notices.
        ///
        /// Two sources never use it at the same time.
        public let writer: String
        /// The writer's own counter, which only grows.
        public let number: Int64

        public init(writer: String, number: Int64) {
            self.writer = writer
            self.number = number
        }
    }

    public let key: Key
    /// The author of the save, as in `transactionAuthor`.
    public let author: String?
    public let content: Content
    /// The store's commit count after the save that this notice reports.
    ///
    /// It shows whether every commit has a notice.
    package let commit: CommitCount?

    public init(key: Key, author: String? = nil, content: Content) {
        self.init(key: key, author: author, content: content, commit: nil)
    }

    package init(key: Key, author: String?, content: Content, commit: CommitCount?) {
        self.key = key
        self.author = author
        self.content = content
        self.commit = commit
    }
}

extension ChangeNotice.Content {
    /// A notice with more objects asks for a full refresh instead, so that no notice outgrows SQLite's page cache.
    static let mostObjects = 10_000
    /// The longest content that this version writes.
    ///
    /// Longer content was not written by this library.
    static let mostBytes = 16 << 20

    /// The content as stored in the queue.
    ///
    /// Later versions may add members and kinds. A reader decodes unknown kinds as `everything`, which is always
    /// correct.
    private struct Stored: Codable {
        var objects: [String: [String]]?
        var history: Int64?
    }

    /// This content, or `everything` when it has too many objects.
    var bounded: Self {
        guard case .objects(let sets) = self, sets.values.reduce(0, { $0 + $1.count }) > Self.mostObjects else {
            return self
        }
        return .everything
    }

    func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let stored =
            switch self {
            case .objects(let sets):
                Stored(objects: Dictionary(uniqueKeysWithValues: sets.map { ($0.rawValue, $1.map(\.description)) }))
            case .history(let transaction): Stored(history: transaction)
            case .everything: Stored()
            }
        return [UInt8](try encoder.encode(stored))
    }

    /// Drops unknown sets and malformed addresses.
    ///
    /// Undecodable content becomes `everything`.
    init(decoding bytes: [UInt8]) {
        guard bytes.count <= Self.mostBytes,
            let stored = try? JSONDecoder().decode(Stored.self, from: Data(bytes))
        else {
            self = .everything
            return
        }
        if let transaction = stored.history {
            self = .history(through: transaction)
        } else if let sets = stored.objects {
            var objects: [ChangeNotice.Change: [ObjectURI]] = [:]
            for (name, addresses) in sets {
                guard let change = ChangeNotice.Change(rawValue: name) else { continue }
                objects[change] = addresses.compactMap { try? ObjectURI($0) }
            }
            self = .objects(objects)
        } else {
            self = .everything
        }
    }
}

/// A notice in the queue.
public struct PostedNotice: Sendable, Hashable {
    /// The sequence number in the queue.
    ///
    /// It only grows, and may have gaps.
    public let sequence: Int64
    public let posted: Date
    public let notice: ChangeNotice
}

/// The next notices for a consumer, in the order of their posts.
public struct RelayBatch: Sendable {
    /// True when notices were dropped before this consumer read them: it must refresh all objects.
    public let needsFullRefresh: Bool
    public let notices: [PostedNotice]
    /// The consumer's position after it acknowledges this batch.
    let position: Int64

    /// True when the batch requires no work.
    public var isEmpty: Bool { notices.isEmpty && !needsFullRefresh }
}
