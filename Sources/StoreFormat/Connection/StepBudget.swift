internal import CSQLite
internal import Synchronization

/// Limits the steps of SQLite's virtual machine for one statement, and checks for cancellation.
///
/// A page tree in which every entry points at the same page claims more rows than could ever be read. The budget grows
/// with the size of the file, and is far above the cost of valid statements on a file of that size.
final class StepBudget: Sendable {
    private static let stepsBetweenCalls: Int32 = 1_000
    private static let callsForAnyFile: Int64 = 40_000
    private static let bytesPerCall: Int64 = 10

    private struct State {
        /// Unlimited, until a size is set.
        var left = Int64.max
        var monitor = WorkMonitor.silent
        var isStopped = false
    }
    private let state = Mutex(State())

    /// Limits a connection from now on; the budget must live as long as the connection.
    func install(on connection: OpaquePointer) {
        sqlite3_progress_handler(
            connection,
            Self.stepsBetweenCalls,
            { context in
                guard let context else { return 1 }
                return Unmanaged<StepBudget>.fromOpaque(context).takeUnretainedValue().take() ? 0 : 1
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    /// Sets the budget of the next statement on a file of `bytes` bytes.
    func allow(forBytes bytes: Int64) {
        state.withLock { $0.left = Self.callsForAnyFile + max(0, bytes) / Self.bytesPerCall }
    }

    /// Ends statements as soon as the monitor is asked to stop; returns the former monitor.
    func stop(by monitor: WorkMonitor) -> WorkMonitor {
        state.withLock {
            let former = $0.monitor
            $0.monitor = monitor
            $0.isStopped = false
            return former
        }
    }

    /// The error for a result code of SQLite; if this budget caused it, the message says so.
    func error(_ result: SQLiteResult, path: String) -> StoreError {
        guard result.primary == SQLITE_INTERRUPT, state.withLock({ $0.isStopped }) else {
            return result.error(path: path)
        }
        return StoreError(.cancelled, path: "", "stopped on request")
    }

    /// Throws where the caller asked to stop: for work on a connection that SQLite's machine does not do.
    func checkCancellation() throws(StoreError) {
        guard
            state.withLock({
                if (try? $0.monitor.checkCancellation()) == nil { $0.isStopped = true }
                return !$0.isStopped
            })
        else { throw StoreError(.cancelled, path: "", "stopped on request") }
    }

    private func take() -> Bool {
        state.withLock {
            $0.left -= 1
            if (try? $0.monitor.checkCancellation()) == nil { $0.isStopped = true }
            return $0.left > 0 && !$0.isStopped
        }
    }
}
