/// The triggers with which an old store refuses writers after it was shared, as they are named and read back.
///
/// One trigger a table and kind of write, named `_store_migrate_fence_<tx>_<n>_<insert|update|delete>`, whose message
/// names the new place. Readers go on; the content digest leaves the fence out.
public struct StoreFence: Hashable, Sendable, Codable {
    /// What the name of every trigger of a fence begins with.
    package static let prefix = "_store_migrate_fence_"

    /// The transaction that set it: 32 lower-case hexadecimal digits.
    public let transaction: String
    /// The path that its message names.
    public let newPath: String
    /// The number of triggers it is made of.
    public let triggerCount: Int

    package init(transaction: String, newPath: String, triggerCount: Int) {
        self.transaction = transaction
        self.newPath = newPath
        self.triggerCount = triggerCount
    }
}
