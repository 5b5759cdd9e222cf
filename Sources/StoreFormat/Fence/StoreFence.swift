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
