import StoreFormat

/// Counts rows as a proof goes along, reports them now and then, and notices that the caller asked to stop.
final class ProofProgress {
    private static let rowsBetweenReports: Int64 = 0x10000

    private let monitor: WorkMonitor
    private var total: Int64 = 0
    private var done: Int64 = 0
    private var rest = rowsBetweenReports

    init(_ monitor: WorkMonitor) {
        self.monitor = monitor
    }

    /// Says that `rows` more rows will be looked at, as far as can be known cheaply.
    func expect(_ rows: Int64) {
        let (sum, overflow) = total.addingReportingOverflow(max(0, rows))
        total = overflow ? .max : sum
    }

    /// Counts one row.
    @inline(__always)
    func advance() throws(StoreError) {
        rest &-= 1
        if rest == 0 { try report() }
    }

    private func report() throws(StoreError) {
        rest = Self.rowsBetweenReports
        done &+= Self.rowsBetweenReports
        monitor.report(.proving, done, of: max(total, done))
        try monitor.checkCancellation()
    }
}
