import Logging
import SafeFiles

/// What distinguishes one journalled run from another.
protocol RunWork {
    associatedtype Result

    var context: RunContext { get }
    /// The record that begins the run.
    var identity: JournalRecord.RunIdentity { get throws }
    /// True once other programs may see what the run made; nil when only the stores show it.
    var isCommitted: Bool? { get }
    /// True if the run may have fenced the old store before its commit point.
    var mayHaveFenced: Bool { get }

    /// Prepares what the run makes, which no other program can see, and makes it visible in one step: the commit point.
    mutating func commit(_ journal: inout MigrationJournal) throws
    /// Releases locks that were held up to the commit point, because it was not reached.
    mutating func release()
    /// Proves and records what was committed.
    mutating func finish(_ journal: inout MigrationJournal) throws -> Result
}

extension RunWork {
    mutating func release() {}
}

/// One run from the record that begins it to its end.
///
/// An error before the commit point rolls the run back, with the code that recovers an interrupted run. After the commit point,
/// and when the rollback fails, the run counts as interrupted, and the next command recovers it.
struct JournalledRun<Work: RunWork> {
    private let begun: Work

    init(_ work: Work) { begun = work }

    /// Carries out the run; `journal` must not have an interrupted one.
    func carryOut(_ journal: inout MigrationJournal) throws -> Work.Result {
        var work = begun
        try journal.append(.begin(work.identity))
        do {
            try work.commit(&journal)
        } catch {
            work.release()
            throw endedByError(work, after: error, &journal)
        }
        do {
            return try work.finish(&journal)
        } catch {
            throw MigrationError(error).asInterrupted
        }
    }

    /// Rolls the run back unless it was committed; returns the error that the caller gets.
    private func endedByError(_ work: Work, after cause: any Error, _ journal: inout MigrationJournal) -> any Error {
        guard case .interrupted(let run) = journal.state else { return cause }
        do {
            let recovery = try RunRecovery(run, in: work.context)
            if try !(work.isCommitted ?? (recovery.decision() != .back)) {
                try recovery.goBack(&journal, mayHaveFenced: work.mayHaveFenced)
                return cause
            }
        } catch {
            work.context.logger.error("rollback failed", metadata: ["error": "\(error)", "cause": "\(cause)"])
        }
        return MigrationError(cause).asInterrupted
    }
}
