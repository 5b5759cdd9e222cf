public import StoreFormat

/// What one save changed, as it is told to other processes.
public struct ChangeNotice: Sendable, Hashable {
    /// What happened to the objects of a set.
    public enum Change: String, Sendable, Hashable, CaseIterable {
        case inserted
        case updated
        case deleted
        case refreshed
        case invalidated
    }

    /// What the receiver is to do.
    public enum Content: Sendable, Hashable {
        /// Merge these objects.
        case objects([Change: [ObjectURI]])
        /// Read the store's persistent history up to this transaction.
        case history(through: Int64)
        /// Refresh everything: there is more than a notice holds.
        case everything
    }

    /// A name that no other notice has: whoever posts a notice again, not knowing whether the first post was done, uses it
    /// again, and whoever receives notices can tell by it which came before.
    public struct Key: Sendable, Hashable {
        /// One context, process or other source of notices; never used by two at once.
        public let writer: String
        /// The writer's own count, which only grows.
        public let number: Int64

        public init(writer: String, number: Int64) {
            self.writer = writer
            self.number = number
        }
    }

    public let key: Key
    /// Who saved, as in `transactionAuthor`.
    public let author: String?
    public let content: Content
    /// The store's count of commits after the save that the notice is about: it tells whether all commits have notices.
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
