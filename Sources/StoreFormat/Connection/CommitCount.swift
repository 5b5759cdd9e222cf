/// How many commits a store has seen, whoever made them: as long as somebody has it open, each raises the number by one.
///
/// Two numbers can be compared while the journal mode stays, and while a connection that was open at the first is still
/// open at the second: the count of a write-ahead log begins anew with its index.
package struct CommitCount: Hashable, Sendable {
    /// Whose count it is: the write-ahead log's, or the main file's own.
    package let isOfLog: Bool
    package let number: UInt32

    package init(isOfLog: Bool, number: UInt32) {
        self.isOfLog = isOfLog
        self.number = number
    }

    /// The count as one number, to be kept.
    package init(stored: Int64) {
        self.init(isOfLog: stored >> 32 & 1 == 1, number: UInt32(truncatingIfNeeded: stored))
    }

    package var stored: Int64 { (isOfLog ? 1 << 32 : 0) | Int64(number) }

    /// The count after one more commit.
    package var next: CommitCount { CommitCount(isOfLog: isOfLog, number: number &+ 1) }
}
