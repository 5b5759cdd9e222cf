internal import CSQLite
internal import Synchronization

/// The number of steps SQLite's machine may take for one statement, so that a hostile file cannot keep us busy for ever.
///
/// A page tree in which every entry points at the same page claims more rows than could ever be read. The budget grows
/// with the size of the file, and is far above what honest work on a file of that size takes.
final class StepBudget: Sendable {
    private static let stepsBetweenCalls: Int32 = 10_000
    private static let callsForAnyFile: Int64 = 4_000
    private static let bytesPerCall: Int64 = 100

    private struct State {
        var allowed = callsForAnyFile
        var left = callsForAnyFile
    }
    private let state = Mutex(State())

    /// Watches a connection from here on; the budget must live as long as the connection.
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

    /// Sets what a file of `bytes` bytes may cost.
    func allow(forBytes bytes: Int64) {
        state.withLock {
            $0.allowed = Self.callsForAnyFile + max(0, bytes) / Self.bytesPerCall
            $0.left = $0.allowed
        }
    }

    /// Starts anew, for the next statement.
    func renew() {
        state.withLock { $0.left = $0.allowed }
    }

    private func take() -> Bool {
        state.withLock {
            $0.left -= 1
            return $0.left > 0
        }
    }
}
