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
