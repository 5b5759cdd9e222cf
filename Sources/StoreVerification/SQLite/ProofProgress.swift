internal import StoreAccess
internal import Synchronization

/// Counts the rows of a proof, reports them regularly, and checks for cancellation.
final class ProofProgress: Sendable {
    private static let rowsBetweenReports: Int64 = 0x10000

    private let monitor: WorkMonitor
    private let total: Int64
    private let done = Atomic<Int64>(0)
    private let isStopped = Atomic<Bool>(false)

    /// `total` is the number of rows that will be read, as far as it is known.
    init(_ monitor: WorkMonitor, total: Int64 = 0) {
        self.monitor = monitor
        self.total = total
    }

    /// Counts the rows that one worker reads.
    struct Counter {
        private let progress: ProofProgress
        private var rest = rowsBetweenReports

        init(_ progress: ProofProgress) {
            self.progress = progress
        }

        /// Counts one row.
        @inline(__always)
        mutating func advance() throws(StoreError) {
            rest &-= 1
            if rest == 0 {
                rest = rowsBetweenReports
                try progress.report()
            }
        }
    }

    /// The cancellation of a task is visible to one thread only; the flag passes it to the others.
    private func report() throws(StoreError) {
        let (_, sum) = done.wrappingAdd(Self.rowsBetweenReports, ordering: .relaxed)
        monitor.report(.proving, sum, of: max(total, sum))
        if isStopped.load(ordering: .relaxed) { throw StoreError(.cancelled, path: "", "stopped on request") }
        do {
            try monitor.checkCancellation()
        } catch {
            isStopped.store(true, ordering: .relaxed)
            throw error
        }
    }
}
