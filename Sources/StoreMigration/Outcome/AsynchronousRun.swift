import SafeFiles
import StoreFormat

/// The asynchronous form of runs that block.
enum AsynchronousRun {
    /// Makes a run outside the cooperative pool, unless the task is cancelled already.
    ///
    /// A run with a monitor stops with the task at its next safe point; one without finishes what it began.
    static func result<R: Sendable>(
        of run: @Sendable () throws(MigrationError) -> R
    ) async throws(MigrationError) -> R {
        try await BlockingCall.run { () throws(MigrationError) in
            do { try WorkMonitor().checkCancellation() } catch { throw MigrationError(error) }
            return try run()
        }
    }
}
