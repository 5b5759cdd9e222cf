internal import Synchronization

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

    /// The same monitor for work that is spread over threads: a wish to stop that one of them sees is seen by all.
    ///
    /// The wish may be that of a task, which only the caller's thread can see.
    package func sharedByThreads() -> WorkMonitor {
        guard let isCancelled else { return self }
        let wish = Wish()
        return WorkMonitor(onProgress: onProgress) {
            if wish.isSeen.load(ordering: .relaxed) { return true }
            guard isCancelled() else { return false }
            wish.isSeen.store(true, ordering: .relaxed)
            return true
        }
    }

    private final class Wish: Sendable {
        let isSeen = Atomic<Bool>(false)
    }
}
