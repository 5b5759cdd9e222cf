/// Something that watches what a merge writes, so that it can be undone.
package protocol MergeRecording: AnyObject {
    /// Tells of a row that SQLite's own recording does not see; one that wraps another is to pass it on.
    func note(_ row: UnkeyedRow) throws

    /// Called inside the transaction, after the last write and before the commit; to throw undoes the merge.
    func finish() throws
}

extension MergeRecording {
    package func note(_ row: UnkeyedRow) throws {}
}
