package import SafeFiles
package import StoreAccess

/// One attempt to execute a planned merge.
package struct MergeRun {
    /// The merge's name.
    ///
    /// A store whose last merge has this name is not merged again.
    package var epoch: String
    /// How long to wait for the write lock.
    package var deadline: Deadline
    /// The author of the transaction in the store's history.
    package var author: String
    /// Receives the rows that lost a decision, before the write lock is acquired.
    ///
    /// The rows must be durable when it returns from the last one. Rows may come again: a merge that fails after them
    /// with `changedMeanwhile` is planned anew.
    package var park: (ParkedRow) throws -> Void
    /// Called inside the transaction, before the first write.
    package var record: ((StoreConnection) throws -> any MergeRecording)?

    package init(
        epoch: String,
        deadline: Deadline,
        author: String = "store-migrate",
        park: @escaping (ParkedRow) throws -> Void = { _ in },
        record: ((StoreConnection) throws -> any MergeRecording)? = nil
    ) {
        self.epoch = epoch
        self.deadline = deadline
        self.author = author
        self.park = park
        self.record = record
    }
}
