/// A recording that is also told of the rows which SQLite's own does not see.
package protocol RowRecording: MergeRecording {
    func note(_ row: UnkeyedRow) throws
}
