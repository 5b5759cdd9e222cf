/// Records what a merge writes, so that it can be undone.
package protocol MergeRecording: AnyObject {
    /// Records a row that SQLite's session extension does not see.
    ///
    /// A recording that wraps another must forward it.
    func note(_ row: UnkeyedRow) throws

    /// Called inside the transaction, after the last write and before the commit.
    ///
    /// Throwing rolls the merge back.
    func finish() throws
}

extension MergeRecording {
    package func note(_ row: UnkeyedRow) throws {}
}
