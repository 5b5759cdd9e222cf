package import StoreAccess

/// Records what a merge writes, so that it can be undone.
package protocol MergeRecording: AnyObject {
    /// Records a row that SQLite's session extension does not see.
    ///
    /// A recording that wraps another must forward it.
    func note(_ row: UnkeyedRow) throws

    /// Copies large values into the record, before they are overwritten.
    func keep(_ values: [SQLValue], from sources: [any LargeValueSource]) throws -> [RecordedValue]

    /// Called before a statement writes the row of an object; nil for all columns.
    func willWrite(_ table: String, _ key: Int64, overwriting columns: [String]?) throws

    /// Runs `body` without SQLite's session extension; the caller records each change itself.
    func unseen<R>(_ body: () throws -> R) rethrows -> R

    /// Called inside the transaction, after the last write and before the commit.
    ///
    /// Throwing rolls the merge back.
    func finish() throws
}

extension MergeRecording {
    package func note(_ row: UnkeyedRow) throws {}

    package func keep(_ values: [SQLValue], from sources: [any LargeValueSource]) throws -> [RecordedValue] {
        values.map { RecordedValue($0) }
    }

    package func willWrite(_ table: String, _ key: Int64, overwriting columns: [String]?) throws {}

    package func unseen<R>(_ body: () throws -> R) rethrows -> R { try body() }
}
