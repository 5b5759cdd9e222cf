import Dispatch
import Synchronization

/// The number of notifications received.
final class HeardCount: Sendable {
    private let count = Mutex(0)
    private let isEnded = Mutex(false)
    private let signal = DispatchSemaphore(value: 0)

    func hear() {
        count.withLock { $0 += 1 }
        signal.signal()
    }

    /// No further notification will arrive.
    func end() {
        isEnded.withLock { $0 = true }
        signal.signal()
    }

    var value: Int { count.withLock { $0 } }

    /// Waits until the count reaches `number`; false when no more can arrive or after two minutes without one.
    func wait(for number: Int) -> Bool {
        while value < number {
            if isEnded.withLock({ $0 }) { return false }
            guard signal.wait(timeout: .now() + .seconds(120)) == .success else { return false }
        }
        return true
    }
}
