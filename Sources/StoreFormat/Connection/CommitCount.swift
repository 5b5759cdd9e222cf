/// The number of commits to a store by all processes: while any process has it open, each commit adds one.
///
/// Two counts can be compared only if the journal mode is unchanged, and if one connection was open at both: the count
/// of a write-ahead log restarts with its index.
package struct CommitCount: Hashable, Sendable {
    /// True for the count in the WAL index, false for that in the main file.
    package let isOfLog: Bool
    package let number: UInt32

    package init(isOfLog: Bool, number: UInt32) {
        self.isOfLog = isOfLog
        self.number = number
    }

    /// Decodes a count stored as one number.
    package init(stored: Int64) {
        self.init(isOfLog: stored >> 32 & 1 == 1, number: UInt32(truncatingIfNeeded: stored))
    }

    package var stored: Int64 { (isOfLog ? 1 << 32 : 0) | Int64(number) }

    /// The count after one more commit.
    package var next: CommitCount { CommitCount(isOfLog: isOfLog, number: number &+ 1) }
}
