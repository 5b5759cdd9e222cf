/// Something that watches what a merge writes, so that it can be undone.
package protocol MergeRecording: AnyObject {
    /// Called inside the transaction, after the last write and before the commit; to throw undoes the merge.
    func finish() throws
}
