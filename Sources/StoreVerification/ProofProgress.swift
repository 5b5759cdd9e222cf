import StoreFormat
internal import Synchronization

/// Counts rows as a proof goes along, reports them now and then, and notices that the caller asked to stop.
final class ProofProgress: Sendable {
    private static let rowsBetweenReports: Int64 = 0x10000

    private let monitor: WorkMonitor
    private let total: Int64
    private let done = Atomic<Int64>(0)
    private let isStopped = Atomic<Bool>(false)

    /// `total` is the number of rows that will be looked at, as far as it could be known cheaply.
    init(_ monitor: WorkMonitor, total: Int64 = 0) {
        self.monitor = monitor
        self.total = total
    }

    /// Counts the rows that one worker looks at.
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

    /// Cancellation may be seen by one thread only, as that of a task is; the flag lets the others know.
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
