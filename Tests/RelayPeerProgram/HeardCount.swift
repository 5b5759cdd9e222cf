import Dispatch
import Synchronization

/// How often something was heard.
final class HeardCount: Sendable {
    private let count = Mutex(0)
    private let signal = DispatchSemaphore(value: 0)

    func hear() {
        count.withLock { $0 += 1 }
        signal.signal()
    }

    var value: Int { count.withLock { $0 } }

    /// Waits until it was heard so often in all; false when two minutes pass without.
    func wait(for number: Int) -> Bool {
        while value < number {
            guard signal.wait(timeout: .now() + .seconds(120)) == .success else { return false }
        }
        return true
    }
}
