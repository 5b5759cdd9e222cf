internal import CSQLite
internal import Glibc
internal import SafeFiles
internal import Synchronization

/// How a connection waits for a lock: in steps of about a millisecond with jitter, until the current call's deadline.
///
/// Without jitter, waiting processes retried at the same instants, which starved one of them in trials.
final class BusyWait: Sendable {
    private let limits: Mutex<(deadline: Deadline, monitor: WorkMonitor)>

    init(deadline: Deadline) {
        limits = Mutex((deadline, .silent))
    }

    /// Installs this as SQLite's busy handler; the connection retains it.
    func install(on connection: OpaquePointer) {
        sqlite3_busy_handler(
            connection,
            { context, _ in
                guard let context else { return 0 }
                return Unmanaged<BusyWait>.fromOpaque(context).takeUnretainedValue().step() ? 1 : 0
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    /// Sets the deadline of later waits; they end early when the monitor is asked to stop.
    func begin(until deadline: Deadline, _ monitor: WorkMonitor = .silent) {
        limits.withLock { $0 = (deadline, monitor) }
    }

    /// Waits for one step; returns false, at once, if the deadline has passed or the caller asked to stop.
    func step() -> Bool {
        let (deadline, monitor) = limits.withLock { $0 }
        guard !deadline.hasPassed, (try? monitor.checkCancellation()) != nil else { return false }
        var pause = timespec(tv_sec: 0, tv_nsec: Int.random(in: 500_000...1_500_000))
        _ = pselect(0, nil, nil, nil, &pause, nil)
        return true
    }
}
