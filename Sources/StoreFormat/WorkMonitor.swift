/// What long work reports to and asks: progress out, cancellation in.
package struct WorkMonitor: Sendable {
    private let onProgress: (@Sendable (StoreProgress) -> Void)?
    private let isCancelled: (@Sendable () -> Bool)?

    /// Reports nothing and is never cancelled.
    package static let silent = WorkMonitor()

    package init(
        onProgress: (@Sendable (StoreProgress) -> Void)? = nil,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) {
        self.onProgress = onProgress
        self.isCancelled = isCancelled
    }

    /// Reports how far the work has come.
    package func report(_ phase: StoreProgress.Phase, _ done: Int64, of total: Int64) {
        onProgress?(StoreProgress(phase: phase, done: done, total: total))
    }

    /// Throws ``StoreError`` with the code `cancelled` when the caller asked to stop; called only where stopping is safe.
    package func checkCancellation() throws(StoreError) {
        if isCancelled?() == true { throw StoreError(.cancelled, path: "", "stopped on request") }
    }
}
