internal import Glibc
internal import SafeFiles
internal import Synchronization

/// How a connection waits for a lock: in steps of about a millisecond with jitter, until the deadline of the call at work.
///
/// The jitter keeps several waiting processes from asking at the same instants, which starved one of them in trials.
final class BusyWait: Sendable {
    private let deadline: Mutex<Deadline>

    init(deadline: Deadline) {
        self.deadline = Mutex(deadline)
    }

    /// Sets the instant at which the waits that follow give up.
    func begin(until newDeadline: Deadline) {
        deadline.withLock { $0 = newDeadline }
    }

    /// Waits for one step; returns false, at once, when the deadline has passed.
    func step() -> Bool {
        guard !deadline.withLock({ $0.hasPassed }) else { return false }
        var pause = timespec(tv_sec: 0, tv_nsec: Int.random(in: 500_000...1_500_000))
        _ = pselect(0, nil, nil, nil, &pause, nil)
        return true
    }
}
